// DeepSpeed's PipelineModule: partition_balanced over the layers' parameters (deepspeed/runtime/utils.py).
//
// As published: over prefixes, the partition with the least difference between its heaviest and its lightest stage,
// where the best of a longer prefix is looked for among the best of shorter ones only. The least difference has no such
// optimal substructure, so it can miss it, and the heaviest stage may be heavier than need be. Mended: the lightest
// heaviest stage.
#pragma once

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& deepspeed_planner();

}  // namespace debubble
