#include "cost_models/staged_partition.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/core/wide.hpp"

namespace debubble {
namespace {

// Times of the first so many layers.
using LayerSums = std::vector<Nanoseconds>;

LayerSums sums_of(const std::vector<Nanoseconds>& times) {
  constexpr Nanoseconds kLargestSum = Nanoseconds{1} << 61;
  LayerSums sums{0};
  for (const Nanoseconds time : times) {
    if (time > kLargestSum - sums.back()) {
      fail("L007", "", "the times of all layers together overflow",
           "check the layers' times, or the sizes that a --model was given");
    }
    sums.push_back(sums.back() + time);
  }
  return sums;
}

constexpr WideUnsigned kNone = ~WideUnsigned{0};  // more than any sum of squares: each is below 2^122

class StagedCut {
 public:
  explicit StagedCut(const std::vector<const std::vector<Nanoseconds>*>& by_stage) : layers_(by_stage.front()->size()) {
    std::map<const std::vector<Nanoseconds>*, LayerSums> known;
    for (const std::vector<Nanoseconds>* const times : by_stage) {
      if (!known.contains(times)) known[times] = sums_of(*times);
      sums_.push_back(known[times]);
    }
  }

  std::vector<int> run() {
    const WideUnsigned most =
        fill(kNone, [](WideUnsigned before, WideUnsigned stage) { return std::max(before, stage); });
    fill(most, [](WideUnsigned before, WideUnsigned stage) { return before + stage * stage; });
    std::vector<int> cut(sums_.size());
    std::size_t end = layers_;
    for (std::size_t s = sums_.size(); s-- > 0;) {
      cut[s] = static_cast<int>(end - begin_[s][end]);
      end = begin_[s][end];
    }
    return cut;
  }

 private:
  // The best of stages 0 to s over the first so many layers, stage by stage, none longer than `most`; the best of all.
  // What is joined is never less than the stage alone.
  template <typename Join>
  WideUnsigned fill(WideUnsigned most, Join join) {
    const std::size_t stages = sums_.size();
    std::vector<WideUnsigned> best(layers_ + 1, kNone);
    best[0] = 0;
    begin_.assign(stages, std::vector<std::size_t>(layers_ + 1, 0));
    for (std::size_t s = 0; s < stages; ++s) {
      std::vector<WideUnsigned> next(layers_ + 1, kNone);
      for (std::size_t end = s + 1; end + (stages - 1 - s) <= layers_; ++end) {
        for (std::size_t begin = end; begin-- > s;) {
          const auto stage = static_cast<WideUnsigned>(sums_[s][end] - sums_[s][begin]);
          if (stage > most || join(0, stage) > next[end]) break;
          if (best[begin] == kNone) continue;
          const WideUnsigned joined = join(best[begin], stage);
          if (joined > next[end]) continue;
          next[end] = joined;
          begin_[s][end] = begin;
        }
      }
      best = std::move(next);
    }
    return best[layers_];
  }

  std::size_t layers_;
  std::vector<LayerSums> sums_;                  // by stage
  std::vector<std::vector<std::size_t>> begin_;  // by stage and end: where the stage begins
};

}  // namespace

std::vector<int> staged_partition(const std::vector<const std::vector<Nanoseconds>*>& by_stage) {
  const std::size_t layers = by_stage.front()->size();
  if (layers < by_stage.size()) {
    fail("L004", "--partition",
         std::to_string(by_stage.size()) + " stages need at least as many layers; there are " + std::to_string(layers),
         "use fewer devices or chunks");
  }
  return StagedCut(by_stage).run();
}

}  // namespace debubble
