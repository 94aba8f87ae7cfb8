// DeepSpeed's PipelineModule: partition_balanced over the layers' parameters
// (cost_models/partition/framework_cuts.hpp).
#pragma once

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& deepspeed_planner();

}  // namespace debubble
