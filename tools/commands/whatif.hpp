// debubble whatif: a scenario with something changed, next to the scenario as it is.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_whatif();

}  // namespace debubble
