// The cuts whose slowest stage is the fastest that there is, of kBalanced (cost_models/partition/partition.hpp).
#pragma once

#include <vector>

#include "cost_models/partition/partition.hpp"

namespace debubble {

// Times of the first so many layers. Throws InputError L007 where all of them together overflow.
[[nodiscard]] std::vector<Nanoseconds> layer_sums(const std::vector<Nanoseconds>& times);

// Minimises the slowest stage (sum of layer_time). Exact. Of several such partitions it takes the most even one (least
// sum of squared stage times), and of those the one with the earliest cuts, the first cut first: stage 0, which holds
// the most activations under 1F1B, gets the fewest layers. Ten equal layers on four stages: 2,2,3,3.
// Time O(stages * layers * log layers): 10,000 layers on 512 stages take well under a second.
// Throws InputError when there are fewer layers than stages, less than one stage, or times whose sum overflows.
[[nodiscard]] std::vector<int> balanced_partition(const Profile& profile, int stages);

// The same where a layer's time depends on the stage that it lies in, and with LayersToCut::boundary: `layers.times` of
// as many layers each. Exact; of several such partitions one with the least sum of squared stage times, the earlier
// cuts first. Time O(stages * layers^2) at most, and always where boundaries count. Throws InputError L004 where there
// are fewer layers than stages, L007 where their times overflow.
[[nodiscard]] std::vector<int> staged_partition(const LayersToCut& layers);

}  // namespace debubble
