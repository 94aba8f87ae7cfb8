// Loads libdebubble_cbc.so (sim/core/plugin.hpp), so that the command itself starts on machines without CBC.
#pragma once

#include "schedules/optimal/program/mixed_program.hpp"

namespace debubble {

// Throws UnavailableError U064 where the plugin is missing (debubble was built without CBC) or cannot be loaded (libCbc
// is missing), with what to install.
[[nodiscard]] const MixedSolver& load_mixed_solver();

}  // namespace debubble
