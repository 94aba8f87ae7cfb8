// `debubble check`: the gate. Suites of scenarios, their predictions against the accepted baseline and against recorded
// or fresh runs.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_check();

}  // namespace debubble
