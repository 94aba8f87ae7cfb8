#include "studies/measure/places.hpp"

#include "formats/files/installed.hpp"
#include "formats/version.hpp"

namespace debubble {

std::filesystem::path injection_library() {
  const std::filesystem::path library = "libdebubble_inject.so";
  const std::filesystem::path base = install_prefix();
  return first_existing(
      {base / "lib" / library, base / std::string(kLibraryFolder) / library, base / "lib64" / library},
      "the injection library");
}

std::filesystem::path package_folder(const std::string& name) {
  return shared_file(std::filesystem::path("python") / name, "the Python package " + name).parent_path();
}

}  // namespace debubble
