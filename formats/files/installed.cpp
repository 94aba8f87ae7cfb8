#include "formats/files/installed.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "formats/version.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

namespace fs = std::filesystem;

// NAME in share/debubble of the folders above the program, the nearest first.
std::vector<fs::path> shared_candidates(const fs::path& name) {
  constexpr int kFolders = 4;  // PREFIX/bin, or deeper in a build folder
  std::vector<fs::path> candidates;
  fs::path folder = install_prefix();
  for (int k = 0; k < kFolders; ++k) {
    candidates.push_back(folder / "share" / "debubble" / name);
    if (!folder.has_relative_path()) break;
    folder = folder.parent_path();
  }
  return candidates;
}

// That of a library within another program; empty: it follows from the program.
fs::path& own_prefix() {
  static fs::path prefix;
  return prefix;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

fs::path install_prefix() {
  if (!own_prefix().empty()) return own_prefix();
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path("/usr/local") : self.parent_path().parent_path();
}

void set_install_prefix(fs::path prefix) { own_prefix() = std::move(prefix); }

fs::path first_existing(const std::vector<fs::path>& candidates, const std::string& what) {
  std::string looked;
  for (const fs::path& candidate : candidates) {
    if (is_there(candidate)) return candidate;
    looked += (looked.empty() ? "" : ", ") + candidate.string();
  }
  throw UnavailableError(Diagnostic{"U040", "", what + " is not there; looked at " + looked,
                                    "this installation is not whole: build and install debubble again"});
}

fs::path shared_file(const fs::path& name, const std::string& what) {
  return first_existing(shared_candidates(name), what);
}

fs::path own_library(const std::string& file, const std::string& what) {
  const fs::path base = install_prefix();
  std::vector<fs::path> places{base / "lib/debubble" / file};
  if (kLibraryFolder != "lib") places.push_back(base / std::string(kLibraryFolder) / "debubble" / file);
  places.push_back(base / "lib" / file);                 // a build folder
  places.push_back(base / "share/debubble/lib" / file);  // a wheel (python/build_backend.py)
  return first_existing(places, what);
}

std::string path_or_shipped(const std::string& path) {
  if (!path.starts_with("traces/") || is_there(path)) return path;
  const std::vector<fs::path> candidates = shared_candidates(path);
  const auto found = std::find_if(candidates.begin(), candidates.end(), is_there);
  return found == candidates.end() ? path : found->string();
}

}  // namespace debubble
