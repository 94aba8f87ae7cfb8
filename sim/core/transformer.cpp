#include "sim/core/transformer.hpp"

namespace debubble {

namespace {

// A norm has a weight, and a LayerNorm a bias as well.
std::int64_t norm_parameters(const TransformerShape& shape, std::int64_t width) {
  return width * (shape.norm == NormKind::kLayerNorm ? 2 : 1);
}

std::int64_t linear_parameters(std::int64_t in, std::int64_t out, bool bias) { return in * out + (bias ? out : 0); }

// The narrow space's own norms count here.
std::int64_t latent_attention_parameters(const TransformerShape& shape) {
  const std::int64_t key = shape.head_size + shape.rope_size;
  std::int64_t queries = linear_parameters(shape.hidden, shape.heads * key, false);
  if (shape.query_rank > 0) {
    queries = linear_parameters(shape.hidden, shape.query_rank, shape.biases || shape.qkv_biases) +
              norm_parameters(shape, shape.query_rank) + linear_parameters(shape.query_rank, shape.heads * key, false);
  }
  const std::int64_t keys =
      linear_parameters(shape.hidden, shape.kv_rank + shape.rope_size, shape.biases || shape.qkv_biases) +
      norm_parameters(shape, shape.kv_rank) +
      linear_parameters(shape.kv_rank, shape.heads * (shape.head_size + shape.value_size), false);
  return queries + keys + linear_parameters(shape.heads * shape.value_size, shape.hidden, shape.biases);
}

std::int64_t attention_parameters(const TransformerShape& shape) {
  if (shape.kv_rank > 0) return latent_attention_parameters(shape);
  const std::int64_t query = shape.heads * shape.head_size;
  const std::int64_t key_value = shape.kv_heads * shape.head_size;
  return linear_parameters(shape.hidden, query + 2 * key_value, shape.biases || shape.qkv_biases) +
         linear_parameters(query, shape.hidden, shape.biases);
}

std::int64_t mlp_parameters(const TransformerShape& shape, std::int64_t width) {
  return linear_parameters(shape.hidden, width, shape.biases) * (shape.gated ? 2 : 1) +
         linear_parameters(width, shape.hidden, shape.biases);
}

}  // namespace

std::int64_t expert_parameters(const TransformerShape& shape) {
  return mlp_parameters(shape, shape.expert_feed_forward);
}

std::int64_t block_parameters(const TransformerShape& shape, bool moe) {
  std::int64_t mlp = 0;
  if (moe) {
    mlp = shape.hidden * shape.experts + shape.experts * expert_parameters(shape);
    if (shape.shared_feed_forward > 0) mlp += mlp_parameters(shape, shape.shared_feed_forward);
  } else {
    mlp = mlp_parameters(shape, shape.feed_forward);
  }
  return 2 * norm_parameters(shape, shape.hidden) + attention_parameters(shape) + mlp;
}

std::int64_t embedding_parameters(const TransformerShape& shape) {
  return (shape.vocabulary + shape.positions) * shape.hidden;
}

std::int64_t head_parameters(const TransformerShape& shape) {
  return norm_parameters(shape, shape.hidden) + shape.vocabulary * shape.hidden;
}

std::int64_t predictor_parameters(const TransformerShape& shape) {
  return 3 * norm_parameters(shape, shape.hidden) + 2 * shape.hidden * shape.hidden +
         block_parameters(shape, shape.experts > 0);
}

bool has_experts(const TransformerShape& shape, std::int64_t block) {
  return shape.experts > 0 && block >= shape.dense_layers && (block - shape.dense_layers) % shape.moe_every == 0;
}

std::int64_t model_parameters(const TransformerShape& shape) {
  std::int64_t all = embedding_parameters(shape) + head_parameters(shape);
  if (shape.tied_embedding) all -= shape.vocabulary * shape.hidden;
  for (std::int64_t block = 0; block < shape.layers; ++block) all += block_parameters(shape, has_experts(shape, block));
  return all + shape.predicted_tokens * predictor_parameters(shape);
}

}  // namespace debubble
