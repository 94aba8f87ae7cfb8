#include "sim/core/plugin.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> plugin_candidates(const Plugin& plugin) {
  const char* const named = std::getenv(plugin.variable);  // NOLINT(concurrency-mt-unsafe): nobody of ours sets it
  if (named != nullptr && *named != '\0') return {named};
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path prefix = error ? fs::path("/usr/local") : self.parent_path().parent_path();
  std::vector<fs::path> places{prefix / "lib/debubble" / plugin.file};
  const fs::path folder = DEBUBBLE_LIBRARY_FOLDER;
  if (folder != "lib") places.push_back(prefix / folder / "debubble" / plugin.file);
  places.push_back(prefix / "lib" / plugin.file);  // a build folder
  return places;
}

fs::path find_plugin(const Plugin& plugin) {
  std::string looked;
  for (const fs::path& candidate : plugin_candidates(plugin)) {
    std::error_code error;
    if (fs::exists(candidate, error)) return candidate;
    looked += (looked.empty() ? "" : ", ") + candidate.string();
  }
  throw UnavailableError({plugin.code, "", std::string(plugin.missing) + ": there is no " + looked, plugin.install});
}

}  // namespace

std::pair<const void*, std::string> open_plugin(const Plugin& plugin) {
  const fs::path path = find_plugin(plugin);
  void* const library = dlopen(path.c_str(), RTLD_NOW | plugin.mode);
  if (library != nullptr) return {dlsym(library, plugin.symbol), path.string()};
  const char* const reason = dlerror();
  throw UnavailableError({plugin.code, path.string(),
                          std::string(plugin.unusable) + ": " + (reason == nullptr ? "" : reason), plugin.repair});
}

void refuse_version(const Plugin& plugin, const std::string& path) {
  throw UnavailableError({plugin.code, path,
                          std::string("this is the ") + plugin.kind + " plugin of another version of debubble",
                          std::string("install debubble again; unset ") + plugin.variable + " if it is set"});
}

}  // namespace debubble
