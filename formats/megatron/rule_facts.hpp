// What Megatron-LM's rules are about: its arguments with their defaults, and what follows from them.
//
//     WORLD ranks in all; MODEL ranks of one replica, EXPERT_MODEL of its experts; RANKS replicas; ETP expert tensor
//     ranks; SHARDS ranks that hold a part of each weight beside the tensor ranks
//     BATCH and MICRO_BATCHES samples of a step, and of one microbatch on all replicas (EVAL_...: of an evaluation);
//     MICROBATCHES of a step; GROUP of them at a time; CHUNKS virtual stages of a rank
//     BLOCKS layers, with the embedding and the loss where they count as layers; EVEN, UNEVEN which kind of cut;
//     MIDDLE layers on MIDDLE_RANKS ranks between the first and the last; SMALLEST_STAGE layers
//     LAYOUT fits, unreadable, misplaced or predictors (what is wrong), its LAYOUT_STAGES, LAYOUT_BLOCKS and
//     LAYOUT_PREDICTORS; PREDICTORS layers of multi-token prediction
//     EXPERTS; PATTERN fits or unreadable, its PATTERN_LENGTH, MIXED: not every layer has experts
//     RECOMPUTE full or selective, its MODULES; OFFLOADED layers, OFFLOAD_MODULES; GRAPHS kind of CUDA graphs
//     QUERY_GROUPS, SEQUENCE_PARALLEL, CONTEXT_TYPES, CONTEXT_PRODUCT, CHUNK_ARGUMENTS, BALANCINGS
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/megatron/arguments.hpp"
#include "formats/rules/rule_condition.hpp"

namespace debubble {

// `ranks`: nothing where they are not known.
[[nodiscard]] RuleFacts megatron_facts(const MegatronArguments& arguments, std::optional<std::int64_t> ranks);

// --moe-layer-freq, a number or Python's list ("([0]*3+[1]*58)", "[0,1]*16"): whether each of `layers` has experts.
// Nothing where it is neither, or the list is not of 0 and 1.
[[nodiscard]] std::optional<std::vector<bool>> expert_blocks(const std::string& text, std::int64_t layers);

}  // namespace debubble
