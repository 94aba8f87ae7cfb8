// `debubble explain schedule NAME`: when to use a schedule, what it costs, and how it looks.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_explain();

}  // namespace debubble
