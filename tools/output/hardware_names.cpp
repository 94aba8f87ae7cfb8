#include "tools/output/hardware_names.hpp"

#include <algorithm>
#include <filesystem>

#include "cost_models/transformer/hardware.hpp"

namespace debubble {

namespace fs = std::filesystem;

std::string own_name(const std::string& file, const std::string& otherwise) {
  const std::string stem = fs::path(file).stem().string();
  const bool plain_name =
      !stem.empty() && stem.size() <= 60 && stem.front() != '-' && std::all_of(stem.begin(), stem.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
      });
  return plain_name && find_hardware(stem) == nullptr ? stem : otherwise;
}

std::string table_beside(const std::string& file) { return fs::path(file).stem().string() + ".kernels.csv"; }

}  // namespace debubble
