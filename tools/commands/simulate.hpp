// debubble simulate: one schedule, with its chart, its report and, on demand, its trace and its table.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_simulate();

}  // namespace debubble
