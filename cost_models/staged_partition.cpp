#include "cost_models/staged_partition.hpp"

#include <map>
#include <string>

#include "cost_models/stage_cuts.hpp"
#include "sim/core/at.hpp"
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

}  // namespace

std::vector<int> staged_partition(const std::vector<const std::vector<Nanoseconds>*>& by_stage,
                                  const BoundaryTime& boundary) {
  const std::size_t layers = by_stage.front()->size();
  if (layers < by_stage.size()) {
    fail("L004", "--partition",
         std::to_string(by_stage.size()) + " stages need at least as many layers; there are " + std::to_string(layers),
         "use fewer devices or chunks");
  }
  std::map<const std::vector<Nanoseconds>*, LayerSums> known;
  std::vector<const LayerSums*> sums;
  for (const std::vector<Nanoseconds>* const times : by_stage) {
    if (!known.contains(times)) known[times] = sums_of(*times);
    sums.push_back(&known[times]);
  }
  const auto last = static_cast<int>(by_stage.size()) - 1;
  const auto time = [&](int stage, int begin, int end) {
    auto own = static_cast<WideUnsigned>(at(*at(sums, stage), end) - at(*at(sums, stage), begin));
    if (boundary && stage > 0) own += static_cast<WideUnsigned>(boundary(stage - 1, begin));
    if (boundary && stage < last) own += static_cast<WideUnsigned>(boundary(stage, end));
    return own;
  };
  StageCuts cuts(last + 1, static_cast<int>(layers));
  const bool grows = !boundary;  // a boundary further to the left may be cheaper
  const WideUnsigned slowest = cuts.best(StageJoin::kMost, grows, time);
  cuts.best(StageJoin::kSum, grows, [&](int stage, int begin, int end) {
    const WideUnsigned own = time(stage, begin, end);
    return own > slowest ? kNoCut : own * own;
  });
  return cuts.cut();
}

}  // namespace debubble
