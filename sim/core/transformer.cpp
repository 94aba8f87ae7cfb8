#include "sim/core/transformer.hpp"

namespace debubble {

namespace {

// A norm has a weight, and a LayerNorm a bias as well.
std::int64_t norm_parameters(const TransformerShape& shape) {
  return shape.hidden * (shape.norm == NormKind::kLayerNorm ? 2 : 1);
}

std::int64_t linear_parameters(std::int64_t in, std::int64_t out, bool bias) { return in * out + (bias ? out : 0); }

}  // namespace

std::int64_t block_parameters(const TransformerShape& shape) {
  const std::int64_t query = shape.heads * shape.head_size;
  const std::int64_t key_value = shape.kv_heads * shape.head_size;
  const std::int64_t attention =
      linear_parameters(shape.hidden, query + 2 * key_value, shape.biases || shape.qkv_biases) +
      linear_parameters(query, shape.hidden, shape.biases);
  const std::int64_t mlp = linear_parameters(shape.hidden, shape.feed_forward, shape.biases) * (shape.gated ? 2 : 1) +
                           linear_parameters(shape.feed_forward, shape.hidden, shape.biases);
  return 2 * norm_parameters(shape) + attention + mlp;
}

std::int64_t embedding_parameters(const TransformerShape& shape) {
  return (shape.vocabulary + shape.positions) * shape.hidden;
}

std::int64_t head_parameters(const TransformerShape& shape) {
  return norm_parameters(shape) + shape.vocabulary * shape.hidden;
}

}  // namespace debubble
