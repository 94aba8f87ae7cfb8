// fill-bubbles (PipeFisher): work outside the schedule is placed where devices wait. The order of the schedule's own
// ops stays; where the work goes depends on the simulated times, so the analysis of the same name decides it.
#pragma once

#include "schedules/transforms/contract.hpp"

namespace debubble {

[[nodiscard]] const TransformEntry& fill_bubbles_entry();

}  // namespace debubble
