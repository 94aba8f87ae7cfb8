// What Megatron-LM itself decides, as rows of formats/rules/framework_rule.hpp: read in the package megatron-core,
// whose folder the sources name. NAMES in capitals are those of formats/megatron/rule_facts.hpp.
#pragma once

#include <vector>

#include "formats/rules/framework_rule.hpp"

namespace debubble {

[[nodiscard]] FrameworkRules megatron_rules();

inline constexpr RuleKind kRefused = RuleKind::kRefuses;  // short, in rows

// Sources of rows in several parts.
inline constexpr const char* kValidateArgs = "training/arguments.py: validate_args";
inline constexpr const char* kParseArgs = "training/arguments.py: parse_args";
inline constexpr const char* kTransformerConfig = "core/transformer/transformer_config.py: TransformerConfig";
inline constexpr const char* kParallelConfig = "core/model_parallel_config.py: ModelParallelConfig";
inline constexpr const char* kBlocksToBuild = "core/transformer/transformer_block.py: get_num_layers_to_build";
inline constexpr const char* kPipelineLayout =
    "core/transformer/pipeline_parallel_layer_layout.py: PipelineParallelLayerLayout";

// Parts of it: ranks, cut and schedule; formats, memory and the step; experts.
void add_megatron_split_rules(std::vector<FrameworkRule>& rows);
void add_megatron_step_rules(std::vector<FrameworkRule>& rows);
void add_megatron_expert_rules(std::vector<FrameworkRule>& rows);

}  // namespace debubble
