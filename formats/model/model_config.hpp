// A TransformerShape from a Hugging Face config.json, for the built-in workload.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/transformer.hpp"

namespace debubble {

// gpt2 and llama families (model_type gpt2, gpt_neox, llama, mistral, qwen2 where they are dense). Throws InputError
// (P004 to P012, W012) for what is no config, another family, missing or impossible sizes; keys that change the
// computation and are not understood are errors, keys known to be irrelevant (token ids, dropout, dtype, ...) pass, all
// others are named.
[[nodiscard]] TransformerShape read_model_config(std::string_view text, const std::string& name);

}  // namespace debubble
