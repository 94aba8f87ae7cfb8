// What the schedules of this folder share: the costs that the cost-aware ones plan for, and the V's two chunks.
#pragma once

#include <string_view>

#include "schedules/common/contract.hpp"

namespace debubble {

// The request's costs, or where it has none: forward, input and weight gradient of all stages alike, no latency, every
// activation kept whole until W. Throws InputError (L007) where times or memory would not add up in 64 bits.
[[nodiscard]] PlanningCosts planning_costs_of(const ScheduleRequest& request, int stages, int chunks);

// From stage s to s+1 and back; 0 between stages of one device.
[[nodiscard]] Nanoseconds hop_after(const PlanningCosts& costs, const Placement& placement, int stage);

// Refuses anything but two stages per device.
void require_two_chunks(const ScheduleRequest& request, std::string_view schedule);

}  // namespace debubble
