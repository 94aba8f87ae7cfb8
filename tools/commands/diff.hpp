// `debubble diff`: a predicted and a measured run, and why they differ.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_diff_command();

}  // namespace debubble
