// The models that only the cost model knows by name: those that the built-in workload can measure are not among them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/transformer.hpp"

namespace debubble {

struct CatalogModel {
  TransformerShape shape;
  std::string source;  // citation of the sizes
};

[[nodiscard]] const std::vector<CatalogModel>& model_catalog();

// Shapes to start from where only sizes are known, all of them 0: "gpt" (LayerNorm, GELU, biases, tied embedding) and
// "llama" (RMSNorm, SwiGLU, no biases).
[[nodiscard]] const std::vector<TransformerShape>& model_families();

// Fills what follows from other sizes where it is 0: heads of keys and values, size of a head, width of the MLP.
void complete_shape(TransformerShape& shape);

}  // namespace debubble
