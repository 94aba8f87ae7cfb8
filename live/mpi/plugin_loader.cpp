#include "live/mpi/plugin_loader.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble::live {

namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "DEBUBBLE_MPI_PLUGIN";
constexpr const char* kInstallMpi = "install Open MPI on every host (Debian, Ubuntu: apt-get install openmpi-bin)";

std::vector<fs::path> candidates() {
  const char* const named = std::getenv(kVariable);  // NOLINT(concurrency-mt-unsafe): read before any thread of ours
  if (named != nullptr && *named != '\0') return {named};
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path prefix = error ? fs::path("/usr/local") : self.parent_path().parent_path();
  const fs::path file = "libdebubble_mpi.so";
  std::vector<fs::path> places{prefix / "lib/debubble" / file};
  const fs::path folder = DEBUBBLE_LIBRARY_FOLDER;
  if (folder != "lib") places.push_back(prefix / folder / "debubble" / file);
  places.push_back(prefix / "lib" / file);  // a build folder
  return places;
}

fs::path find_plugin() {
  std::string looked;
  for (const fs::path& candidate : candidates()) {
    std::error_code error;
    if (fs::exists(candidate, error)) return candidate;
    looked += (looked.empty() ? "" : ", ") + candidate.string();
  }
  throw UnavailableError({"U052", "", "this debubble has no MPI: there is no " + looked,
                          "install debubble-mpi, a package of the release (a build of your own: apt-get install "
                          "openmpi-bin libopenmpi-dev, and build again), or use --backend cpu"});
}

const MessagePassingPlugin& load(const fs::path& path) {
  // Open MPI loads components of its own, which look for its symbols among the global ones.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    throw UnavailableError({"U052", path.string(),
                            std::string("the MPI library cannot be loaded: ") + (reason == nullptr ? "" : reason),
                            kInstallMpi});
  }
  const auto* const plugin = static_cast<const MessagePassingPlugin*>(dlsym(library, "debubble_message_passing"));
  if (plugin == nullptr || plugin->version != MessagePassing::kInterfaceVersion) {
    throw UnavailableError({"U052", path.string(), "this is the MPI plugin of another version of debubble",
                            std::string("install debubble again; unset ") + kVariable + " if it is set"});
  }
  return *plugin;
}

}  // namespace

const MessagePassingPlugin& load_message_passing() { return load(find_plugin()); }

}  // namespace debubble::live
