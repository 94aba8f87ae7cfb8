// The numbers of stages per device that a schedule is tried with where nothing says how many.
#pragma once

#include <vector>

#include "scenario/request/scenario.hpp"
#include "schedules/common/contract.hpp"

namespace debubble {

// Ascending: its default, and all up to a stage per layer that cut the model's layers, or its blocks alone, into equal
// stages. Empty where the number is given (-v, --partition, a parameter), follows from the schedule, or no model says
// what would be legal; and where the schedule searches for its order and there is much to search.
[[nodiscard]] std::vector<int> chunk_choices(const Scenario& scenario, const ScheduleEntry& entry);

}  // namespace debubble
