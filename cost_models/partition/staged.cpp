// The balance of layers whose times depend on their stage: StageCuts, with sums of the first so many layers. A stage's
// time grows with more layers before its first where no boundary counts, so that one that is too slow ends the walk to
// the left; a boundary further to the left may be cheaper, so there it does not.
#include <map>
#include <string>

#include "cost_models/partition/balance.hpp"
#include "cost_models/partition/stage_cuts.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/wide.hpp"

namespace debubble {
std::vector<int> staged_partition(const LayersToCut& cut) {
  const auto& by_stage = cut.times;
  const auto& boundary = cut.boundary;
  const std::size_t layers = by_stage.front()->size();
  if (layers < by_stage.size()) {
    fail("L004", "--partition",
         std::to_string(by_stage.size()) + " stages need at least as many layers; there are " + std::to_string(layers),
         "use fewer devices or chunks");
  }
  std::map<const std::vector<Nanoseconds>*, std::vector<Nanoseconds>> known;
  std::vector<const std::vector<Nanoseconds>*> sums;
  for (const std::vector<Nanoseconds>* const times : by_stage) {
    if (!known.contains(times)) known[times] = layer_sums(*times);
    sums.push_back(&known[times]);
  }
  const auto last = static_cast<int>(by_stage.size()) - 1;
  const auto time = [&](int stage, int begin, int end, WideUnsigned) {
    auto own = static_cast<WideUnsigned>(at(*at(sums, stage), end) - at(*at(sums, stage), begin));
    if (boundary && stage > 0) own += static_cast<WideUnsigned>(boundary(stage - 1, begin));
    if (boundary && stage < last) own += static_cast<WideUnsigned>(boundary(stage, end));
    return StageWeight{own, own};
  };
  return *StageCuts(last + 1, static_cast<int>(layers)).evenest(!boundary, time);
}

}  // namespace debubble
