// How many data-parallel replicas of the pipeline a run must simulate together. One represents all of them where they
// take the same time over links that no two share; at the same moment alike replicas would all want a shared link.
#pragma once

#include "scenario/job/job.hpp"
#include "sim/core/variation.hpp"
#include "sim/engine/program.hpp"

namespace debubble {

// 1, or all of `job.pipeline_replicas`. Throws InputError X005 where these are too many to simulate.
[[nodiscard]] int distinct_replicas(const Job& job, const Program& program, const Variation& variation);

}  // namespace debubble
