// --recompute-modules: what selective recomputation makes again, by Megatron-Core's names.
#pragma once

#include <string>

#include "cost_models/transformer/setup.hpp"

namespace debubble {

// "core_attn,mlp". Throws InputError for an unknown or repeated name, and for a module that the model does not have.
[[nodiscard]] RecomputeModules parse_recompute_modules(const std::string& text, const TransformerShape& shape);

// "of core_attn, mlp".
[[nodiscard]] std::string recomputation_words(const RecomputeModules& modules);

}  // namespace debubble
