// debubble plan: the best way to run a job on a number of GPUs, with how sure that is.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_plan_command();

}  // namespace debubble
