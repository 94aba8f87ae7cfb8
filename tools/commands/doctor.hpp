// debubble doctor: the facts about this machine that decide what debubble can do on it.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_doctor();

}  // namespace debubble
