// debubble trace lint: what is wrong with Chrome traces, whoever wrote them.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_trace();

}  // namespace debubble
