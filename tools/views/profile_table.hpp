// A measured profile as a person reads it: times per layer and phase, memory, where the rest of the GPU time went, and
// whether the measurement can be trusted.
//
//     gpt-1.3b, bf16, microbatch 2 x 1024, on NVIDIA H200
//
//     layer             phase  median     p10     p90     n
//     embedding         F       0.031   0.030   0.033    20
//                       I       ...
//     block.0-23 (24)   F       1.204   ...
//
// Layers alike (one kind, names that count on, equal sizes) share their rows: the median of their medians, the least
// p10, the largest p90.
#pragma once

#include <span>
#include <string>

#include "sim/core/profile.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// `notes` are sentences about the measurement, printed last.
[[nodiscard]] std::string profile_view(const Profile& profile, std::span<const std::string> notes,
                                       const ViewStyle& style);

// One size of a sweep: where its profile is, or why there is none.
struct SweepRow {
  std::int64_t microbatch = 0;
  std::int64_t sequence = 0;
  std::string file;
  Profile profile;      // empty when it failed
  std::string failure;  // empty when it did not
};

// A line per size: time of all layers by phase, memory kept for backward, file.
[[nodiscard]] std::string sweep_view(std::span<const SweepRow> rows, const ViewStyle& style);

}  // namespace debubble
