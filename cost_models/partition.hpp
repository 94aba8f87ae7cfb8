// Partition: how many consecutive layers each stage gets.
#pragma once

#include <string_view>
#include <vector>

#include "sim/core/profile.hpp"

namespace debubble {

// What a layer weighs in a balance: median forward and whole backward.
[[nodiscard]] Nanoseconds layer_time(const ProfileLayer& layer);
// Its median backward; a missing one is the sum of its halves.
[[nodiscard]] Nanoseconds whole_backward(const ProfileLayer& layer);
// The cheaper of a whole and a split backward.
[[nodiscard]] Nanoseconds least_backward(const ProfileLayer& layer);

// Contiguous partition of the profile's layers into `stages` non-empty stages that minimises the slowest stage
// (sum of layer_time). Exact. Of several such partitions it takes the most even one (least sum of squared stage times),
// and of those the one with the earliest cuts, the first cut first: stage 0, which holds the most activations under
// 1F1B, gets the fewest layers. Ten equal layers on four stages: 2,2,3,3.
// Time O(stages * layers * log layers): 10,000 layers on 512 stages take well under a second.
// Throws InputError when there are fewer layers than stages, less than one stage, or times whose sum overflows.
[[nodiscard]] std::vector<int> balanced_partition(const Profile& profile, int stages);

// As many blocks on each stage; the embedding on the first stage, the head and what follows it on the last:
// Megatron-LM's own partition. Throws InputError F003 where the blocks cannot be shared evenly.
[[nodiscard]] std::vector<int> even_partition(const Profile& profile, int stages);

// Parses "a,b,c". Throws InputError unless it holds exactly `stages` positive numbers that add up to `layers`; the
// message says "layers in model / layers placed".
[[nodiscard]] std::vector<int> parse_partition(std::string_view text, int stages, int layers);

}  // namespace debubble
