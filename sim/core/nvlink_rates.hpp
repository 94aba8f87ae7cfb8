// What NVLink carries of one GPU, one way, in bytes per second: of the presets' links (sim/topologies), and what times
// measured on such machines are compared with (cost_models/collectives). The published figures of NCCL's tables.
#pragma once

#include <cstdint>

namespace debubble {

inline constexpr std::int64_t kNvlinkOfA100 = 240'000'000'000;  // 12 links of 20 GB/s; nominal 300 GB/s
inline constexpr std::int64_t kNvlinkOfH100 = 370'800'000'000;  // 18 links of 20.6 GB/s; nominal 450 GB/s
inline constexpr std::int64_t kNvlinkOfB200 = 721'800'000'000;  // 18 links of 40.1 GB/s; nominal 900 GB/s

}  // namespace debubble
