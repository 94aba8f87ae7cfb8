// The commands that explain what a gate found: to be copied from a log.
#pragma once

#include <string>
#include <vector>

#include "studies/check/suite.hpp"

namespace debubble {

// Compares a recorded run with its prediction.
[[nodiscard]] std::vector<std::string> commands_for_recorded(const SuiteScenario& scenario);

// Runs a scenario again, kept in a file, and compares it with its prediction. A run that does not end leaves no file:
// the command alone shows how it gets stuck.
[[nodiscard]] std::vector<std::string> commands_for_fresh(const SuiteScenario& scenario, int devices, bool ends);

}  // namespace debubble
