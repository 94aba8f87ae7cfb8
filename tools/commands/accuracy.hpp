// debubble accuracy: predictions of published results against what was measured.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_accuracy();

}  // namespace debubble
