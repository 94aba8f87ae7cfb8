// debubble's own planner of stages: what the simulator itself says is shortest. It has no cost model beside the
// simulation that all decisions are judged by, so that it predicts what comes out.
//
//  - one device per stage: the order of the devices, which of them stay idle, and the cuts
//    (studies/planners/placement.hpp), exactly where that is few steps;
//  - stages of r devices each, in the order given, for every r, cut for the least slowest stage; and whatever the other
//    planners decide, published faults and all: each improved by moving cuts, and devices between neighbours. So it is
//    never worse than one of them that fits, as long as that chooses nothing beside stages.
#pragma once

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& debubble_planner();

}  // namespace debubble
