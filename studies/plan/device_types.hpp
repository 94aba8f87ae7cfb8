// --device-types FILE: a job's devices where they differ, in the order of the topology's.
//
//     {"schema": "debubble.device-types/1",
//      "types": [{"hardware": "a100-80", "count": 2},
//                {"name": "old", "count": 6, "time_factor": 1.8, "memory": "16GiB", "bandwidth": "10GB/s"}]}
//
// Of a type with `hardware` a modelled transformer's times and memory are that hardware's; `time_factor` is over the
// job's own --hardware, or over the profile's device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

struct DeviceTypeRow {
  std::string name;
  int count = 0;
  std::string hardware;  // empty: the job's
  std::optional<double> time_factor;
  std::optional<Bytes> memory;
  std::int64_t bandwidth = 0;  // of its network card, bytes per second; 0: that of the links
};

// Throws InputError (P002 to P022) with everything that is wrong with the file.
[[nodiscard]] std::vector<DeviceTypeRow> read_device_types(std::string_view text, const std::string& name);

[[nodiscard]] int device_count(const std::vector<DeviceTypeRow>& rows);

}  // namespace debubble
