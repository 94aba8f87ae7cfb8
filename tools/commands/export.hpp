// debubble export: a schedule as PyTorch's table, or its simulated run as a trace.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_export();

}  // namespace debubble
