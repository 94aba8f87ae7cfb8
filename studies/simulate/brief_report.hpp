// The Report of a run whose spans are not kept: the same numbers, from 12 bytes per op in place of a span and a
// transfer. For runs of millions of ops of which nothing is drawn.
#pragma once

#include <cstddef>
#include <optional>

#include "scenario/job/job.hpp"
#include "sim/analysis/report.hpp"
#include "sim/engine/program.hpp"

namespace debubble {

// What analyse() would say of the run (sim/analysis/analyse.hpp). Nothing where that takes spans: copies, shards of the
// vocabulary, unequal pieces, pairs with two inputs, transfers that hold lanes or whose tensors have a size, a schedule
// without a flush. The walk without contention must say it all.
[[nodiscard]] std::optional<Report> brief_report(const Job& job, const Program& program);

}  // namespace debubble
