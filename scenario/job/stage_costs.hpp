// What the stages of a run cost: from --times, a profile or a modelled transformer, with where every number came from.
#pragma once

#include <string>
#include <vector>

#include "scenario/job/run.hpp"

namespace debubble {

struct PlacedLayers;

// Fills run.costs (and run.partition) for run.schedule; what it assumes stands in run.report. A modelled stage takes
// the time of the device that it lies on; of one that lies on several the slowest counts.
void set_stage_costs(const Scenario& scenario, Run& run);
// The costs alone, of a transformer on other wires. The scenario must say how the layers are cut.
[[nodiscard]] StageCosts stage_costs_at(const Scenario& scenario, const PlacedLayers& placed, const Schedule& schedule);

// "8,8,7": as --partition takes it.
[[nodiscard]] std::string partition_text(const std::vector<int>& partition);

// One line of a report's assumptions.
void assume(Report& report, std::string what, const std::string& value, Source source);
[[nodiscard]] Source given_or_default(bool given);

}  // namespace debubble
