#include "gpu/driver_version.hpp"

#include "gpu/driver_api.hpp"
#include "sim/core/error.hpp"

namespace debubble {

std::vector<std::string> names_for_driver(const std::string& stem, int driver_version) {
  if (driver_version >= 13000) return {stem + ".13", stem + ".12"};
  return {stem + ".12", stem + ".13"};
}

void require_driver_for(const std::string& what, const std::string& place, int library_version, int driver_version) {
  if (library_version / 1000 <= driver_version / 1000) return;
  throw UnavailableError({"U025", place,
                          "the driver supports CUDA " + cuda_version_text(driver_version) + ", older than " + what +
                              " of CUDA " + cuda_version_text(library_version),
                          "update the driver (580 or newer for CUDA 13), or install the libraries of CUDA " +
                              std::to_string(driver_version / 1000)});
}

}  // namespace debubble
