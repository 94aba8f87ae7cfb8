// Partition where a layer's time depends on the stage that it lies in: some stages recompute, others do not.
#pragma once

#include <functional>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

// Contiguous partition into non-empty stages that minimises the slowest one, where a layer takes (*by_stage[s])[layer]
// on stage s; all of them have as many layers. Exact; of several such partitions one with the least sum of squared
// stage times, the earlier cuts first. Time O(stages * layers^2) at most. Throws InputError L004 where there are fewer
// layers than stages, L007 where their times overflow.
// `boundary(stage, end)`, if given: what both `stage` and the next one take in addition where the next one's first
// layer is `end`; in time O(stages * layers^2).
using BoundaryTime = std::function<Nanoseconds(int stage, int end)>;
[[nodiscard]] std::vector<int> staged_partition(const std::vector<const std::vector<Nanoseconds>*>& by_stage,
                                                const BoundaryTime& boundary = {});

}  // namespace debubble
