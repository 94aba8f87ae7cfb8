// debubble sweep: one simulation for every combination of the flags' values.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_sweep();

}  // namespace debubble
