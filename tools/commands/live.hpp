// `debubble live`: one schedule, run for real.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_live();

}  // namespace debubble
