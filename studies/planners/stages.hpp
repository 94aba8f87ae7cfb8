// Small things that planners share: stages from sizes or cuts, and the two balances that several of them start from.
#pragma once

#include <functional>
#include <vector>

#include "studies/planners/contract.hpp"

namespace debubble {

// One device each: stage s on device s.
[[nodiscard]] std::vector<PlannerStage> stages_of_sizes(const std::vector<int>& sizes);
// The same from ascending cuts: {2, 5} of 7 layers are [0,2) [2,5) [5,7).
[[nodiscard]] std::vector<PlannerStage> stages_of_cuts(const std::vector<int>& cuts, int layers);

// The partition of [begin, end) into `stages` non-empty ranges with the least largest weight(a, b); of several the one
// with the earliest cuts, the first cut first. Weights need not grow with the range, and are asked of
// stage 0 only from `begin` on. Time O(stages * layers^2).
using RangeWeight = std::function<double(int, int, int)>;  // stage, begin, end
struct LeastLargest {
  double largest = 0;  // infinity where no partition is allowed (every one has an infinite weight)
  std::vector<int> cuts;
};
[[nodiscard]] LeastLargest least_largest(int begin, int end, int stages, const RangeWeight& weight);

// Times of one microbatch on a type of device, in ns.
[[nodiscard]] double stage_time(const PlannerJob& job, const PlannerSums& sums, int begin, int end, int type);

}  // namespace debubble
