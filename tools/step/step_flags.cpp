#include "tools/step/step_flags.hpp"

namespace debubble {

void add_step_flags(CLI::App&, StepFlags&) {}

StepScenario check_step(const StepFlags&) { return {}; }

std::string repeated_step_flags(const StepFlags&) { return {}; }

}  // namespace debubble
