#include "schedules/optimal/program/solver_loader.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPluginVariable = "DEBUBBLE_CBC_PLUGIN";
constexpr const char* kInstallCbc =
    "install debubble-cbc, a package of the release (a build of your own: apt-get install coinor-libcbc-dev, and build "
    "again), or use --param solver=search";

std::vector<fs::path> plugin_candidates() {
  const char* const named = std::getenv(kPluginVariable);  // NOLINT(concurrency-mt-unsafe): nobody of ours sets it
  if (named != nullptr && *named != '\0') return {named};
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path prefix = error ? fs::path("/usr/local") : self.parent_path().parent_path();
  const fs::path file = "libdebubble_cbc.so";
  std::vector<fs::path> places{prefix / "lib/debubble" / file};
  const fs::path folder = DEBUBBLE_LIBRARY_FOLDER;
  if (folder != "lib") places.push_back(prefix / folder / "debubble" / file);
  places.push_back(prefix / "lib" / file);  // a build folder
  return places;
}

fs::path find_solver_plugin() {
  std::string looked;
  for (const fs::path& candidate : plugin_candidates()) {
    std::error_code error;
    if (fs::exists(candidate, error)) return candidate;
    looked += (looked.empty() ? "" : ", ") + candidate.string();
  }
  throw UnavailableError({"U064", "", "this debubble has no solver for MILPs: there is no " + looked, kInstallCbc});
}

const MixedSolver& load_plugin(const fs::path& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    throw UnavailableError(
        {"U064", path.string(), std::string("the MILP solver cannot be loaded: ") + (reason == nullptr ? "" : reason),
         "install CBC (Debian, Ubuntu: apt-get install coinor-libcbc3), or use --param solver=search"});
  }
  const auto* const solver = static_cast<const MixedSolver*>(dlsym(library, "debubble_mixed_solver"));
  if (solver == nullptr || solver->version != MixedSolver::kInterfaceVersion) {
    throw UnavailableError({"U064", path.string(), "this is the MILP plugin of another version of debubble",
                            std::string("install debubble again; unset ") + kPluginVariable + " if it is set"});
  }
  return *solver;
}

}  // namespace

const MixedSolver& load_mixed_solver() { return load_plugin(find_solver_plugin()); }

}  // namespace debubble
