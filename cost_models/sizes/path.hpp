// SizePath: from which measured sizes a wanted one is reached, first along the microbatch, then along the sequence.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cost_models/sizes/between.hpp"
#include "cost_models/sizes/profile_at.hpp"

namespace debubble {

struct SizePath {
  // All sizes measured at one sequence, by rising microbatch: one that is the wanted microbatch, or at least two.
  struct Row {
    std::int64_t sequence = 0;
    std::vector<std::size_t> profiles;  // numbers in the list of measured ones
  };
  RunSize wanted;
  std::vector<Row> rows;  // by rising sequence: one that is the wanted sequence, or at least two
};

// Nothing where too few sizes were measured.
[[nodiscard]] std::optional<SizePath> find_path(const std::vector<RunSize>& measured, const RunSize& wanted);

// "interpolated from microbatch 2 and 4", "extrapolated from 2048 and 4096 tokens", "interpolated from 2 x 2048, ...":
// the sizes that decide next to the wanted one.
[[nodiscard]] std::string words_of(const SizePath& path, const std::vector<RunSize>& measured);

}  // namespace debubble
