// The built-in workload's models by name.
#pragma once

#include <span>
#include <string>

#include "sim/core/transformer.hpp"

namespace debubble {

struct ModelPreset {
  TransformerShape shape;
  std::string source;  // citation of the sizes
};

[[nodiscard]] std::span<const ModelPreset> model_presets();

// Throws InputError (C003) with a suggestion for a name that is no preset.
[[nodiscard]] TransformerShape model_preset(const std::string& name);

}  // namespace debubble
