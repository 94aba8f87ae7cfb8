// debubble list: what --schedule, --topology and the cost flags can name.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_list();

}  // namespace debubble
