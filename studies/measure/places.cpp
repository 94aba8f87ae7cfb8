#include "studies/measure/places.hpp"

#include "formats/files/installed.hpp"

namespace debubble {

std::filesystem::path injection_library() { return own_library("libdebubble_inject.so", "the injection library"); }

std::filesystem::path package_folder(const std::string& name) {
  return shared_file(std::filesystem::path("python") / name, "the Python package " + name).parent_path();
}

}  // namespace debubble
