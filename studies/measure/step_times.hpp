// How long a program's training steps take on the host, from what it left in a folder: to compare two runs of it.
//
//     recorded        | 51 | 49 |  paused  | 50 |            median 50
//     without CUPTI   | 45 | 44 | 44 | 44 |                  median 44: recording costs 13.6 %
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiler/attribution/attribution.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// Of all processes, each without its warm-up; steps during which the recording was off, or code was loaded, are left
// out. A damaged file counts as far as it can be read.
[[nodiscard]] std::vector<Nanoseconds> settled_step_times(const std::vector<std::filesystem::path>& records,
                                                          const AttributionRules& rules);

struct RunOverhead {
  std::optional<std::int64_t> ppm;  // median with over median without, less 1
  std::string problem;              // why it is not known; empty where it is
};
[[nodiscard]] RunOverhead run_overhead(const std::vector<Nanoseconds>& with, const std::vector<Nanoseconds>& without);

}  // namespace debubble
