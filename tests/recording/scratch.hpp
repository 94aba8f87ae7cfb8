// A folder of its own for a test, removed with all it holds.
#pragma once

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp

#include <filesystem>
#include <stdexcept>
#include <string>

namespace debubble::testing {

class Scratch {
 public:
  // mkdtemp puts letters of its own in place of six X.
  Scratch() : path_((std::filesystem::temp_directory_path() / ("debubble-recording-" + std::string(6, 'X'))).string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder: " + path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace debubble::testing
