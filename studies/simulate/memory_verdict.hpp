// The verdict on memory: whether a run fits.
#pragma once

#include <optional>

#include "scenario/job/job.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// Nothing where no limits are set.
[[nodiscard]] std::optional<MemoryFit> judge_memory(const Job& job, const Timeline& timeline);

[[nodiscard]] bool out_of_memory(const Report& report);

}  // namespace debubble
