// One layer of the profile, from its executions and its kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/attribution/attribution.hpp"
#include "profiler/attribution/name_table.hpp"
#include "profiler/attribution/results.hpp"
#include "profiler/attribution/tallies.hpp"
#include "sim/core/profile.hpp"

namespace debubble::attribution {

inline constexpr std::size_t kMostKernels = 8;  // by name; the others are added up

// GPU time of one layer, warm-up included.
struct LayerTime {
  Nanoseconds total = 0;
  Nanoseconds recomputed = 0;
  Nanoseconds unsplit = 0;           // backward work that computes both gradients
  Nanoseconds by_order = 0;          // told apart by order alone
  std::uint16_t gradient_rules = 0;  // bits of the rules that separated I from W
  std::vector<KernelSummary> kernels;
};

// `tallies` are those of this layer.
[[nodiscard]] LayerTime time_of(const std::vector<Tally>& tallies, const NameTable& names);

inline constexpr const char* kNoBackwardNote = "no backward was seen, its time is 0";

struct LayerReport {
  ProfileLayer layer;
  std::vector<std::string> notes;  // without the layer's name: what is true of several is said once
};

// `facts` may be null: what CUPTI saw of the memory then.
[[nodiscard]] LayerReport report_layer(const std::string& name, const LayerSamples& samples, const LayerTime& time,
                                       const LayerFacts* facts);

}  // namespace debubble::attribution
