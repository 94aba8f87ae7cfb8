// What the critical path is made of. Internal to sim/analysis.
#pragma once

#include "sim/analysis/report.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// Compute, transfers and waits along the critical path; they add up to the makespan exactly.
[[nodiscard]] CriticalPath sum_critical_path(const Timeline& timeline);

// What ends last: a span, or a task of the step, which comes first where both end at once. kStart: nothing happened.
[[nodiscard]] Gate last_event(const Timeline& timeline);

}  // namespace debubble
