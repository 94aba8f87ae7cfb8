#include "formats/files/installed.hpp"

#include <system_error>

#include "sim/core/error.hpp"

namespace debubble {

std::filesystem::path install_prefix() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path("/usr/local") : self.parent_path().parent_path();
}

std::filesystem::path first_existing(const std::vector<std::filesystem::path>& candidates, const std::string& what) {
  std::string looked;
  for (const std::filesystem::path& candidate : candidates) {
    std::error_code error;
    if (std::filesystem::exists(candidate, error)) return candidate;
    looked += (looked.empty() ? "" : ", ") + candidate.string();
  }
  throw UnavailableError(Diagnostic{"U040", "", what + " is not there; looked at " + looked,
                                    "this installation is not whole: build and install debubble again"});
}

std::filesystem::path shared_file(const std::filesystem::path& name, const std::string& what) {
  constexpr int kFolders = 4;  // PREFIX/bin, or deeper in a build folder
  std::vector<std::filesystem::path> candidates;
  std::filesystem::path folder = install_prefix();
  for (int k = 0; k < kFolders && candidates.size() < kFolders; ++k) {
    candidates.push_back(folder / "share" / "debubble" / name);
    if (!folder.has_relative_path()) break;
    folder = folder.parent_path();
  }
  return first_existing(candidates, what);
}

}  // namespace debubble
