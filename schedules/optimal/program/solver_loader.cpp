#include "schedules/optimal/program/solver_loader.hpp"

#include <dlfcn.h>

#include "sim/core/plugin.hpp"

namespace debubble {

const MixedSolver& load_mixed_solver() {
  return load_plugin<MixedSolver>({
      .file = "libdebubble_cbc.so",
      .variable = "DEBUBBLE_CBC_PLUGIN",
      .symbol = "debubble_mixed_solver",
      .mode = RTLD_LOCAL,
      .code = "U064",
      .kind = "MILP",
      .missing = "this debubble has no solver for MILPs",
      .install = "install debubble-cbc, a package of the release (a build of your own: apt-get install "
                 "coinor-libcbc-dev, and build again), or use --param solver=search",
      .unusable = "the MILP solver cannot be loaded",
      .repair = "install CBC (Debian, Ubuntu: apt-get install coinor-libcbc3), or use --param solver=search",
  });
}

}  // namespace debubble
