// Mario's passes over a schedule that recomputes early: what recomputation costs is hidden where a device would wait.
// Liu et al., PPoPP 2025, DOI 10.1145/3710848.3710878. Passes 1 and 2 (insert R, begin it before the gradient is
// there) are the transform recompute with when=early.
#pragma once

#include <vector>

#include "schedules/common/contract.hpp"

namespace debubble {

// Pass 3: no checkpoint where a forward is followed by its own backward at once.
//
//     3F0 3R0 3B0 3F1 3R1 3B1   ->   3F0 3B0 3F1 3B1
void drop_needless_recomputes(Schedule& schedule);

// Pass 4: forwards move forward in their rows, in their order, each into an idle slot that holds it, as long as the
// device stays within its limit. No op starts later than before, by `costs`.
void advance_forwards(Schedule& schedule, const PlanningCosts& costs, const std::vector<Bytes>& limits);

// The most that the activations and checkpoints of a device take at once, by device.
[[nodiscard]] std::vector<Bytes> row_peaks(const Schedule& schedule, const StageCosts& costs);

}  // namespace debubble
