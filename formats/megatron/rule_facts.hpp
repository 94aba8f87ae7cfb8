// What Megatron-LM's rules are about: its arguments with their defaults, and what follows from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/megatron/arguments.hpp"
#include "formats/rules/rule_facts.hpp"

namespace debubble {

// Keeps references to the names of the arguments. `ranks`: nothing where they are not known.
[[nodiscard]] RuleFacts megatron_facts(const MegatronArguments& arguments, std::optional<std::int64_t> ranks);

// The same of arguments that are facts already: what follows from them is added.
void add_megatron_defaults(RuleFacts& facts);
void add_derived_megatron_facts(RuleFacts& facts, std::optional<std::int64_t> ranks);

// --moe-layer-freq, a number or Python's list ("([0]*3+[1]*58)", "[0,1]*16"): whether each of `layers` has experts.
// Nothing where it is neither, or the list is not of 0 and 1.
[[nodiscard]] std::optional<std::vector<bool>> expert_blocks(const std::string& text, std::int64_t layers);

}  // namespace debubble
