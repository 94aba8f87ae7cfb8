#include "live/mpi/plugin_loader.hpp"

#include <dlfcn.h>

#include "sim/core/plugin.hpp"

namespace debubble::live {

const MessagePassingPlugin& load_message_passing() {
  return load_plugin<MessagePassingPlugin>({
      .file = "libdebubble_mpi.so",
      .variable = "DEBUBBLE_MPI_PLUGIN",
      .symbol = "debubble_message_passing",
      .mode = RTLD_GLOBAL,  // Open MPI loads components of its own, which look for its symbols among the global ones
      .code = "U052",
      .kind = "MPI",
      .missing = "this debubble has no MPI",
      .install = "install debubble-mpi, a package of the release (a build of your own: apt-get install openmpi-bin "
                 "libopenmpi-dev, and build again), or use --backend cpu",
      .unusable = "the MPI library cannot be loaded",
      .repair = "install Open MPI on every host (Debian, Ubuntu: apt-get install openmpi-bin)",
  });
}

}  // namespace debubble::live
