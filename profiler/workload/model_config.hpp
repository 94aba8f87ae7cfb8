// Where a TransformerShape comes from: a preset by name, or a Hugging Face config.json.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/core/transformer.hpp"

namespace debubble {

struct ModelPreset {
  TransformerShape shape;
  std::string source;  // citation of the sizes
};

[[nodiscard]] std::span<const ModelPreset> model_presets();

// Throws InputError (C003) with a suggestion for a name that is no preset.
[[nodiscard]] TransformerShape model_preset(const std::string& name);

// gpt2 and llama families (model_type gpt2, gpt_neox, llama, mistral, qwen2 where they are dense). Throws InputError
// (P006 to P012, W012) for what is no config, another family, missing or impossible sizes; keys that change the
// computation and are not understood are errors, keys known to be irrelevant (token ids, dropout, dtype, ...) pass, all
// others are named.
[[nodiscard]] TransformerShape read_model_config(std::string_view text, const std::string& name);

}  // namespace debubble
