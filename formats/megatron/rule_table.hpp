// What Megatron-LM itself decides, as rows of formats/rules/framework_rule.hpp: read in the package megatron-core,
// whose folder the sources name. NAMES in capitals are those of formats/megatron/rule_facts.hpp.
#pragma once

#include <vector>

#include "formats/rules/framework_rule.hpp"

namespace debubble {

[[nodiscard]] FrameworkRules megatron_rules();

inline constexpr RuleKind kRefused = RuleKind::kRefuses;  // short, in rows

// Parts of it: ranks, cut and schedule; formats, memory and the step; experts.
void add_megatron_split_rules(std::vector<FrameworkRule>& rows);
void add_megatron_step_rules(std::vector<FrameworkRule>& rows);
void add_megatron_expert_rules(std::vector<FrameworkRule>& rows);

}  // namespace debubble
