#include "tools/output/hardware_names.hpp"

#include <filesystem>

#include "cost_models/transformer/hardware.hpp"
#include "scenario/request/hardware_file.hpp"

namespace debubble {

namespace fs = std::filesystem;

std::string own_name(const std::string& file, const std::string& otherwise) {
  const std::string stem = fs::path(file).stem().string();
  return is_hardware_name(stem) && find_hardware(stem) == nullptr ? stem : otherwise;
}

std::string table_beside(const std::string& file) { return fs::path(file).stem().string() + ".kernels.csv"; }

}  // namespace debubble
