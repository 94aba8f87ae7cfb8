// Loads libdebubble_mpi.so (sim/core/plugin.hpp), so that the command itself starts on machines without MPI.
#pragma once

#include "live/mpi/message_passing.hpp"

namespace debubble::live {

// Throws UnavailableError U052 where the plugin is missing (debubble was built without MPI) or cannot be loaded (libmpi
// is missing), with what to install. Loading does not start MPI yet.
[[nodiscard]] const MessagePassingPlugin& load_message_passing();

}  // namespace debubble::live
