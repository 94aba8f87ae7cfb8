// A slow rank among the stages of a pipeline, told from slow layers: what it takes for layers like those of other
// ranks.
//
//     rank 0  layers.0, layers.1    1.00 ms each
//     rank 1  layers.2, layers.3    1.25 ms each: the same list, kind and sizes, so the rank is slower by a quarter
//     rank 2  head                  nothing like it on another rank: how fast rank 2 is cannot be told
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/ranks/join_layers.hpp"

namespace debubble {

struct RankComparison {
  std::vector<std::int64_t> ppm;   // of each rank: how much longer its layers take, in millionths; 0: as long
  std::vector<std::string> notes;  // who is slower or faster, and of whom it cannot be told

  [[nodiscard]] bool any_apart() const {
    return std::any_of(ppm.begin(), ppm.end(), [](std::int64_t one) { return one != 0; });
  }
};

// Layers are alike if their names differ in the number of the block alone, and kind, parameters and outputs are equal,
// and what they keep for the backward by a twentieth. Each rank is held against the lower median of the ranks that have
// such layers. Apart: by a tenth and by 5 us for a layer, forward and backward together.
[[nodiscard]] RankComparison compare_ranks(const std::vector<StageLayers>& ranks);

}  // namespace debubble
