#include "studies/measure/places.hpp"

#include <array>
#include <system_error>
#include <vector>

#include "formats/version.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

namespace fs = std::filesystem;

fs::path prefix() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path("/usr/local") : self.parent_path().parent_path();
}

fs::path first_of(const std::vector<fs::path>& candidates, const std::string& what) {
  std::string looked;
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (fs::exists(candidate, error)) return candidate;
    looked += (looked.empty() ? "" : ", ") + candidate.string();
  }
  throw UnavailableError(Diagnostic{"U040", "", what + " is not there; looked at " + looked,
                                    "this installation is not whole: build and install debubble again"});
}

}  // namespace

fs::path injection_library() {
  const fs::path library = "libdebubble_inject.so";
  const fs::path base = prefix();
  return first_of({base / "lib" / library, base / std::string(kLibraryFolder) / library, base / "lib64" / library},
                  "the injection library");
}

fs::path package_folder(const std::string& name) {
  return first_of({prefix() / "share" / "debubble" / "python" / name}, "the Python package " + name).parent_path();
}

}  // namespace debubble
