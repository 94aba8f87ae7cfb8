// What several planners share: stages from sizes or cuts, the partition with the least largest stage, a stage's time.
#pragma once

#include <functional>
#include <vector>

#include "studies/planners/contract.hpp"

namespace debubble {

// Layers per stage, as even as they go: the first stages get one more each. One stage or more.
[[nodiscard]] std::vector<int> even_sizes(int layers, int stages);
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

// Of a planner that took the slowest device's times for all: says so where devices differ.
void note_slowest_device(const PlannerJob& job, PlannerDecision& decision);

}  // namespace debubble
