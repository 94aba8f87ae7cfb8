// PipeEdge: which devices of an unequal set, in which order, with which layers, for the most inferences per second.
// Hu et al., DSD 2022, arXiv 2110.14895; the recurrence is that of its C++ scheduler (usc-isi/PipeEdge at 1a68bbb):
//
//     h(i, used, u): least bottleneck of layers [0, i) on the multiset `used` of types when a device of type u is next
//     h(j, used + u, v) = min over i < j of max(h(i, used, u), time_u(i..j), output_j / min(bandwidth_u, bandwidth_v))
//
// Ties: fewest layers last found, as strict improvement over i, used, u, j, v in ascending order leaves them.
#pragma once

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& pipeedge_planner();

}  // namespace debubble
