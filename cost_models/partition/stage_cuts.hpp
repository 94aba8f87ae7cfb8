// StageCuts: the best cut of layers into consecutive, non-empty stages, by dynamic programming over the first so many
// layers, stage by stage.
//
// Invariant: after a stage, `before[end]` is the best joined value of that stage and those before it over layers 0 to
// `end`. A stage's value does not depend on how the layers before it are cut, and both joins grow with either part, so
// the best whole has a best beginning.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/wide.hpp"

namespace debubble {

inline constexpr WideUnsigned kNoCut = ~WideUnsigned{0};  // more than any value: those of all stages stay below it

// What counts of the stages' values.
enum class StageJoin : std::uint8_t { kSum, kMost };

class StageCuts {
 public:
  StageCuts(int stages, int layers) : stages_(stages), layers_(layers) {}

  // The least of the stages' values joined, where `value(stage, begin, end)` is that of a stage with these layers, or
  // kNoCut where it may not have them; kNoCut where there is no cut. `grows`: a stage's value is no less with more
  // layers before its first, so that few are looked at. Exact; time O(stages * layers^2) at most.
  template <typename Value>
  WideUnsigned best(StageJoin join, bool grows, const Value& value) {
    std::vector<WideUnsigned> before(to_index(layers_ + 1), kNoCut);
    before[0] = 0;
    begin_.assign(to_index(stages_), std::vector<int>(to_index(layers_ + 1), 0));
    for (int stage = 0; stage < stages_; ++stage) {
      std::vector<WideUnsigned> next(to_index(layers_ + 1), kNoCut);
      for (int end = stage + 1; end + (stages_ - 1 - stage) <= layers_; ++end) {
        for (int begin = end; begin-- > stage;) {
          if (at(before, begin) == kNoCut) continue;
          const WideUnsigned own = value(stage, begin, end);
          if (grows && (own == kNoCut || own > at(next, end))) break;
          if (own == kNoCut) continue;
          const WideUnsigned joined =
              join == StageJoin::kSum ? at(before, begin) + own : std::max(at(before, begin), own);
          if (joined > at(next, end)) continue;
          at(next, end) = joined;
          at(at(begin_, stage), end) = begin;
        }
      }
      before = std::move(next);
    }
    return at(before, layers_);
  }

  // Layers of each stage in the best cut that was found last; of several the one with the earliest cuts, the last of
  // them first.
  [[nodiscard]] std::vector<int> cut() const {
    std::vector<int> layers(to_index(stages_));
    int end = layers_;
    for (int stage = stages_; stage-- > 0;) {
      const int begin = at(at(begin_, stage), end);
      at(layers, stage) = end - begin;
      end = begin;
    }
    return layers;
  }

 private:
  int stages_;
  int layers_;
  std::vector<std::vector<int>> begin_;  // by stage and end: where the stage begins
};

}  // namespace debubble
