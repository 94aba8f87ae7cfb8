// What a rule says to the person whose run breaks it.
#pragma once

#include <string>
#include <string_view>

#include "formats/rules/framework_rule.hpp"
#include "formats/rules/rule_facts.hpp"
#include "sim/core/error.hpp"

namespace debubble {

// The names in a condition that have a value, with it: "--num-layers 34, microbatches of a step 10". What follows from
// flags is told by those of them that were given, and by its meaning where they do not show it.
[[nodiscard]] std::string facts_in(const FrameworkRules& rules, std::string_view condition, const RuleFacts& facts);

// "Megatron-LM refuses this: --num-layers 34, --pipeline-model-parallel-size 4", with the rule and its source as help.
[[nodiscard]] Diagnostic refusal(const FrameworkRules& rules, const FrameworkRule& rule, const RuleFacts& facts,
                                 const char* code, std::string place);

}  // namespace debubble
