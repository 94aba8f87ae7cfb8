// As many layers on each stage, the rest to the first ones: what people do without a planner.
//
//     10 layers on 4 devices: [0,3) [3,6) [6,8) [8,10)
#pragma once

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& even_planner();

}  // namespace debubble
