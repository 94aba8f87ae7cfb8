// debubble compare: several schedules on the same devices, costs and links, in one table.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_compare();

}  // namespace debubble
