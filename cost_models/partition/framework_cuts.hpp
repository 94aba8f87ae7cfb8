// The cuts that frameworks make by rules of their own, as --partition takes them:
//
//     torchtitan           torchtitan:2,3 with pipeline_parallel_first_ and last_stage_less_layers, 1 each by default
//     nanotron             by what blocks and head cost
//     deepspeed            deepspeed:METHOD with PipelineModule's partition_method: parameters, uniform, type:NAME|NAME
//     neox                 the same of GPT-NeoX, whose list has a function before the blocks and one behind them;
//                          type:transformer|mlp by default, which finds both
#pragma once

#include <string_view>
#include <vector>

#include "cost_models/partition/partition.hpp"

namespace debubble {

struct TransformerShape;

// Whether the text begins with the name of one.
[[nodiscard]] bool is_framework_cut(std::string_view text);

// Layers per stage. Throws InputError S061 for a rule that is not of these forms, L004 where the framework refuses the
// cut or leaves a stage without layers, C004 where the rule asks for sizes that are not known.
[[nodiscard]] std::vector<int> framework_cut(std::string_view text, const LayersToCut& layers);

// What a rule asks of a modelled transformer whose weights have so many bytes each.
[[nodiscard]] CutSizes cut_sizes(const TransformerShape& shape, int weight_bytes);

// DeepSpeed's partition_balanced: how many of these weights each part gets. The difference between the heaviest and the
// lightest part is to be the least, but of every prefix only its own best is continued, and that has no optimal
// substructure: the result is DeepSpeed's, not always the best. Throws InputError S063 where that takes too long.
[[nodiscard]] std::vector<int> deepspeed_balance(const std::vector<double>& weights, int parts);

}  // namespace debubble
