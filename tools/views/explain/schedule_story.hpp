// `debubble explain schedule NAME`: what a row of the catalog is, an example of it, and its numbers next to those of
// 1f1b.
#pragma once

#include <string>

#include "scenario/request/scenario.hpp"
#include "schedules/common/contract.hpp"
#include "studies/simulate/simulate.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// `own` is the example, simulated from `scenario`.
[[nodiscard]] std::string schedule_story(const ScheduleEntry& entry, const Simulated& own, const Scenario& scenario,
                                         const ScenarioFlags& flags, Progress& progress, const ViewStyle& style);

}  // namespace debubble
