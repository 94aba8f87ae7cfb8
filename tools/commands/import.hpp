// debubble import: what another tool measured becomes a debubble.profile/1.
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_import();

}  // namespace debubble
