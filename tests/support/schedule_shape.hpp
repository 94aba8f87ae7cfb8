// Whether a schedule is whole: every stage runs every piece forward once and completely backward once, where it stands.
#pragma once

#include <string>

#include "sim/core/schedule.hpp"

namespace debubble::testing {

// "" when every piece runs on every stage of its replica, on that stage's device, as F, then once R or not, then B, or
// I and W; slices of a microbatch forward in order and backward in reverse; and where rows hold S and T, every device
// runs both once for every piece. Otherwise the first thing that is not so. Written from the contract; asks no checker.
[[nodiscard]] std::string incompleteness(const Schedule& schedule);

// "" when the sizes that the schedule states agree with its rows, its placement and its replicas.
[[nodiscard]] std::string shape_problem(const Schedule& schedule);

}  // namespace debubble::testing
