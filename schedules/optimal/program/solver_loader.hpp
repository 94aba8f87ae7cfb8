// Finds and loads libdebubble_cbc.so, so that the command itself starts on machines without CBC.
//
//     PREFIX/bin/debubble
//     PREFIX/lib/debubble/libdebubble_cbc.so       or what $DEBUBBLE_CBC_PLUGIN names
#pragma once

#include "schedules/optimal/program/mixed_program.hpp"

namespace debubble {

// Throws UnavailableError U064 where the plugin is missing (debubble was built without CBC) or cannot be loaded (libCbc
// is missing), with what to install.
[[nodiscard]] const MixedSolver& load_mixed_solver();

}  // namespace debubble
