// Flags about the step; part of every verb that takes a scenario.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace debubble {

// As typed.
struct StepFlags {};

void add_step_flags(CLI::App& verb, StepFlags& flags);

// The flags, checked.
struct StepScenario {};

// Throws InputError with everything that is wrong with them.
[[nodiscard]] StepScenario check_step(const StepFlags& flags);

// Those that were given, quoted for a shell, to be repeated in a command that is suggested.
[[nodiscard]] std::string repeated_step_flags(const StepFlags& flags);

}  // namespace debubble
