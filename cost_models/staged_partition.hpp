// Partition where a layer's time depends on the stage that it lies in: some stages recompute, others do not.
#pragma once

#include <vector>

#include "sim/core/profile.hpp"

namespace debubble {

// Contiguous partition into non-empty stages that minimises the slowest one (sum of layer_time), of stage s with the
// layers of `*by_stage[s]`; all of them have as many. Exact; of several such partitions one with the least sum of squared
// stage times, the earlier cuts first. Time O(stages * layers^2). Throws InputError L004 where there are fewer layers than
// stages.
[[nodiscard]] std::vector<int> staged_partition(const std::vector<const Profile*>& by_stage);

}  // namespace debubble
