// From the flags of a scenario to its checked values.
#pragma once

#include <string>

#include "scenario/request/scenario.hpp"

namespace CLI {
class App;
}

namespace debubble {

// Adds the shared flags to a verb. `several` allows more than one schedule.
void add_scenario_flags(CLI::App& verb, ScenarioFlags& flags, bool several);

// Throws InputError with everything that is wrong with the flags, and for an unreadable or faulty profile.
[[nodiscard]] Scenario check_scenario(const ScenarioFlags& flags);

// The flags that gave a run its parameters, costs and links, quoted for a shell, to be repeated in a command that is
// suggested: "--times f=1,b=2 --p2p blocking". The partition is not among them: it fits one number of stages only.
[[nodiscard]] std::string repeated_flags(const ScenarioFlags& flags);

}  // namespace debubble
