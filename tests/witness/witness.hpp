// NVIDIA's own libraries, where tools/lib/witnesses.sh has put them. They load without a driver.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace debubble::testing {

// Paths of a library, libnvrtc.so.13 and .12 for "libnvrtc.so.": of the newest release, then of the oldest that we
// promise to work with, as far as they are there. Where none is, says that the test is skipped.
inline std::vector<std::string> witnesses(const std::string& beginning) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  for (const std::string release : {DEBUBBLE_WITNESS_NEWEST, DEBUBBLE_WITNESS_OLDEST}) {
    if (release.empty()) continue;
    for (const fs::directory_entry& package : fs::directory_iterator(release)) {
      if (!fs::is_directory(package.path() / "lib")) continue;
      for (const fs::directory_entry& file : fs::directory_iterator(package.path() / "lib")) {
        const std::string name = file.path().filename().string();
        if (name.starts_with(beginning)) found.push_back(file.path().string());
#ifdef DEBUBBLE_SANITIZED
        // A sanitizer's dlopen looks beside the sanitizer for what libnvrtc opens later, so that is opened here.
        if (name.starts_with("libnvrtc-builtins.")) dlopen(file.path().c_str(), RTLD_NOW);
#endif
      }
    }
  }
  if (found.empty()) MESSAGE("SKIPPED: no " << beginning << " here: DEBUBBLE_WITNESSES=1 tools/test gets it");
  return found;
}

}  // namespace debubble::testing
