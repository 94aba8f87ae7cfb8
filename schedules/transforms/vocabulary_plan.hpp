// Where the passes of a sharded output layer go in the rows of a schedule. Internal to the transform.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

// The schedule with S and T in every row. `schedule` says how many barriers there are and has neither yet; so many
// microbatches may a device take in beyond its own row. The rows are those of a run by `costs`, so they cannot
// deadlock. A device that is free takes what can begin first; of several S, then (with two barriers) T, then a forward
// before its turn, then the next op of its row, where T comes before a forward.
[[nodiscard]] std::vector<std::vector<Op>> plan_vocabulary(const Schedule& schedule, const PlanningCosts& costs);

}  // namespace debubble
