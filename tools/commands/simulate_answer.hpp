// What `debubble simulate` finds out, without how it is shown: the Python module shows it otherwise.
#pragma once

#include <string>

#include "scenario/request/scenario.hpp"
#include "sim/analysis/limit.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

// The schedule that is meant: the first that the scenario names, or 1f1b.
[[nodiscard]] std::string simulated_name(const Scenario& scenario);

// The run, with what would make it fit where it does not, and its range. Throws what `simulate` does.
[[nodiscard]] Simulated answer_simulate(const Scenario& scenario, const std::string& name, Progress& progress);

// Of a run that has a result; else nothing.
[[nodiscard]] MoreMicrobatches more_for(const Scenario& scenario, const std::string& name, const Simulated& run);

// What `--format json` prints.
[[nodiscard]] std::string simulate_json(const Simulated& run, const MoreMicrobatches& more,
                                        const std::string& command_line);

}  // namespace debubble
