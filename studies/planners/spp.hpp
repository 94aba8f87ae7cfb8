// SPP: stages, replicas and an order of devices for synchronous training over any links. Luo et al., INFOCOM 2022,
// arXiv 2204.10562. Three parts, of which only the abstract was at hand; the rules are ours, after what is known of
// them:
//
//  1. order of devices: split at a global minimum cut of the links, each part again, and string them together;
//  2. for every number of stages S the least bottleneck W over contiguous groups of that order, by dynamic programming:
//         W(l, k, r, i) = min over l', r' of max(W(l', k-1, r', i-r), T(l'..l)/r, 2 d_l' / (r' r b))     b: slowest
//         pair
//  3. execution by lists over 2S - 1 resources (stages, channels that carry both directions): backward before forward,
//     then the lower microbatch; the S with the shortest makespan wins. makespan <= (M + 4S - 4) W.
#pragma once

#include <vector>

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& spp_planner();

// Devices in the order of part 1; the half with the lowest id first.
[[nodiscard]] std::vector<int> spp_order(const PlannerJob& job);

struct SppPlan {
  double bottleneck = 0;  // ns per microbatch
  std::vector<PlannerStage> stages;
};
// Part 2, for `stages` stages over all devices of that order.
[[nodiscard]] SppPlan spp_partition(const PlannerJob& job, const std::vector<int>& order, int stages);

// Part 3. Times of one microbatch; channel s is between stages s and s + 1, as long each way.
struct SppRun {
  double makespan = 0;
  std::vector<std::vector<int>> rows;  // by stage: microbatches in order; ~i for the backward of i
};
[[nodiscard]] SppRun spp_execution(const std::vector<double>& forward, const std::vector<double>& backward,
                                   const std::vector<double>& channel, int microbatches);
[[nodiscard]] SppRun spp_execution(const PlannerJob& job, const std::vector<PlannerStage>& stages);

}  // namespace debubble
