// --recompute-modules, what selective recomputation makes again, by Megatron-Core's names; and --recompute-blocks.
#pragma once

#include <cstdint>
#include <string>

#include "cost_models/recompute_rule.hpp"
#include "cost_models/transformer/setup.hpp"

namespace debubble {

// "core_attn,mlp". Throws InputError for an unknown or repeated name, and for a module that the model does not have.
[[nodiscard]] RecomputeModules parse_recompute_modules(const std::string& text, const TransformerShape& shape);

// "first:2", "every:2", "chunks:4" or "0-3,7", of so many blocks. Throws InputError C012 for what is none of these.
[[nodiscard]] RecomputeRule parse_recompute_rule(const std::string& text, std::int64_t blocks);

// The modules by name: "core_attn,mlp", or "op" or "budget".
[[nodiscard]] std::string recompute_module_names(const RecomputeModules& modules);

// "of core_attn, mlp".
[[nodiscard]] std::string recomputation_words(const RecomputeModules& modules);

}  // namespace debubble
