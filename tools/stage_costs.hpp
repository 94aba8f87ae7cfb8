// What the stages of a run cost: from --times, a profile or a modelled transformer, with where every number came from.
#pragma once

#include <string>

#include "tools/run.hpp"

namespace debubble {

// Fills run.costs (and run.partition) for run.schedule; what it assumes stands in run.report.
void set_stage_costs(const Scenario& scenario, Run& run);

// One line of a report's assumptions.
void assume(Report& report, std::string what, const std::string& value, Source source);
[[nodiscard]] Source given_or_default(bool given);

}  // namespace debubble
