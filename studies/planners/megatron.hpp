// Megatron-LM's own layout: as many transformer layers on each stage, the embedding before the first, the head after
// the last (get_num_layers_to_build; --account-for-embedding-in-pipeline-split and
// --account-for-loss-in-pipeline-split).
//
//     E tttt|tttt|tttt|tttt L        16 layers on 4 stages; 14 with both accounted for: E ttt|tttt|tttt|ttt L
#pragma once

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& megatron_planner();

}  // namespace debubble
