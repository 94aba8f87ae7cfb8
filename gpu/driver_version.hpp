// Which versions of CUDA's libraries go with a driver. A library runs on a driver of the same or a newer major version
// ("minor version compatibility" of CUDA): 13.2's on a driver for 13.0, but not 13.0's on a driver for 12.9.
#pragma once

#include <string>
#include <vector>

namespace debubble {

// Sonames to try, those of the driver's own major version first: {"libnvrtc.so.12", "libnvrtc.so.13"}.
[[nodiscard]] std::vector<std::string> names_for_driver(const std::string& stem, int driver_version);

// Throws UnavailableError U025 when the driver (12090) is of an older major version than the library (13000).
void require_driver_for(const std::string& what, const std::string& place, int library_version, int driver_version);

}  // namespace debubble
