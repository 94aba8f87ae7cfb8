// StageCuts: the best cut of layers into consecutive, non-empty stages, by dynamic programming over the first so many
// layers, stage by stage.
//
// Invariant: after a stage, `before[end]` is the best joined value of that stage and those before it over layers 0 to
// `end`. A stage's value does not depend on how the layers before it are cut, and both joins grow with either part, so
// the best whole has a best beginning. Twice: for the bound, and among all cuts within it for evenness.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/wide.hpp"

namespace debubble {

inline constexpr WideUnsigned kNoCut = ~WideUnsigned{0};  // more than any value: those of all stages stay below it

// What the stages' largest bound is to be the least of, or kNoCut where a stage may not have these layers; and its
// time.
struct StageWeight {
  WideUnsigned bound = 0;
  WideUnsigned time = 0;
};

// Whether there is a cut whose stages `may(stage, begin, end)` allows, where one that it allows may be shorter, too,
// and begin later. Each stage takes as many layers as it may, and leaves one for each to come, so that the next begins
// as late as it can. Time O(stages * log layers).
template <typename May>
bool some_cut(int stages, int layers, const May& may) {
  int begin = 0;
  for (int stage = 0; stage < stages; ++stage) {
    int fits = begin;
    for (int above = layers + 1 - (stages - 1 - stage); above - fits > 1;) {
      const int end = fits + (above - fits) / 2;
      (may(stage, begin, end) ? fits : above) = end;
    }
    if (fits == begin) return false;
    begin = fits;
  }
  return begin == layers;
}

class StageCuts {
 public:
  StageCuts(int stages, int layers) : stages_(stages), layers_(layers) {}

  // Layers of each stage in the cut whose largest bound is the least; of several the most even one (least sum of
  // squared times), and of those one with the earliest cuts, the last of them first. Nothing where there is no cut.
  // `weigh(stage, begin, end, most)`: a StageWeight, whose bound may be kNoCut where it is above `most`. `grows`: no
  // bound and no time is less with more layers before the stage's first, so that few are looked at. Exact; time
  // O(stages * layers^2) at most.
  template <typename Weigh>
  std::optional<std::vector<int>> evenest(bool grows, const Weigh& weigh) {
    const WideUnsigned least = best(
        StageJoin::kMost, grows, [&](int stage, int begin, int end) { return weigh(stage, begin, end, kNoCut).bound; });
    if (least == kNoCut) return std::nullopt;
    best(StageJoin::kSum, grows, [&](int stage, int begin, int end) {
      const StageWeight own = weigh(stage, begin, end, least);
      return own.bound > least ? kNoCut : own.time * own.time;
    });
    return cut();
  }

 private:
  enum class StageJoin : std::uint8_t { kSum, kMost };

  // The least of the stages' values joined; kNoCut where there is no cut.
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

  // The one that was found last.
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

  int stages_;
  int layers_;
  std::vector<std::vector<int>> begin_;  // by stage and end: where the stage begins
};

}  // namespace debubble
