// Checks of what only some schedules have: slices, unequal pieces, shards of the vocabulary, copies. Internal to
// sim/core: part of find_problems (check.hpp).
#pragma once

#include <vector>

#include "sim/rows/check.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble {

// Appends what is wrong, in no particular order. `placed`: every op and replica number may be looked up.
void check_features(const Schedule& schedule, const OpIndex& ops, bool placed, std::vector<ScheduleProblem>& problems);

}  // namespace debubble
