#include "sim/core/transformer.hpp"

namespace debubble {

namespace {

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
  return queries + keys +
         linear_parameters(shape.heads * shape.value_size, shape.hidden, shape.biases || shape.output_bias);
}

std::int64_t query_key_norm_parameters(const TransformerShape& shape) {
  // Whatever the norms of blocks have, these have a weight each.
  if (shape.qk_norm == QueryKeyNorm::kHead) return 2 * shape.head_size;
  if (shape.qk_norm == QueryKeyNorm::kWhole) return (shape.heads + shape.kv_heads) * shape.head_size;
  return 0;
}

std::int64_t attention_parameters(const TransformerShape& shape) {
  if (shape.kv_rank > 0) return latent_attention_parameters(shape);
  const std::int64_t query = shape.heads * shape.head_size;
  const std::int64_t key_value = shape.kv_heads * shape.head_size;
  return linear_parameters(shape.hidden, query + 2 * key_value, shape.biases || shape.qkv_biases) +
         linear_parameters(query, shape.hidden, shape.biases || shape.output_bias) + query_key_norm_parameters(shape) +
         (shape.attention_sinks ? shape.heads : 0);
}

std::int64_t mlp_parameters(const TransformerShape& shape, std::int64_t width) {
  const bool biases = shape.biases || shape.mlp_biases;
  return linear_parameters(shape.hidden, width, biases) * (shape.gated ? 2 : 1) +
         linear_parameters(width, shape.hidden, biases);
}

}  // namespace

std::int64_t expert_parameters(const TransformerShape& shape) {
  return mlp_parameters(shape, shape.expert_feed_forward);
}

// A norm has a weight, and a LayerNorm a bias as well.
std::int64_t norm_parameters(const TransformerShape& shape, std::int64_t width) {
  if (shape.norm_vectors >= 0) return width * shape.norm_vectors;
  return width * (shape.norm == NormKind::kLayerNorm ? 2 : 1);
}

std::int64_t block_parameters(const TransformerShape& shape, bool moe) {
  std::int64_t all = has_attention(shape) ? attention_parameters(shape) : 0;
  all += norms_in_block(shape) * norm_parameters(shape, shape.hidden);
  if (!has_mlp(shape)) return all;
  if (!moe) return all + mlp_parameters(shape, shape.feed_forward);
  all += linear_parameters(shape.hidden, shape.experts, shape.router_bias) + shape.experts * expert_parameters(shape);
  if (shape.shared_feed_forward > 0) all += mlp_parameters(shape, shape.shared_feed_forward);
  return all + (shape.shared_gate ? shape.hidden : 0);
}

std::int64_t embedding_parameters(const TransformerShape& shape) {
  const std::int64_t norm = shape.embedding_norm ? norm_parameters(shape, shape.hidden) : 0;
  return (shape.vocabulary + shape.positions) * shape.hidden + norm;
}

std::int64_t head_parameters(const TransformerShape& shape) {
  return norm_parameters(shape, shape.hidden) + shape.vocabulary * shape.hidden +
         (shape.head_bias ? shape.vocabulary : 0);
}

std::int64_t block_variant(const TransformerShape& shape, std::int64_t block) {
  if (!shape.kind_of_block.empty()) return 2 + shape.kind_of_block[static_cast<std::size_t>(block)];
  if (shape.window == 0 || block < shape.full_first) return 0;
  return shape.full_every > 0 && (block + 1) % shape.full_every == 0 ? 0 : 1;
}

TransformerShape block_shape(const TransformerShape& shape, std::int64_t variant) {
  TransformerShape block = shape;
  block.kind_of_block.clear();
  block.block_kinds.clear();
  if (variant == 0) block.window = 0;
  if (variant < 2) return block;
  const BlockKind& kind = shape.block_kinds[static_cast<std::size_t>(variant - 2)];
  block.block_kinds = {kind};
  if (!kind.windowed) block.window = 0;
  if (kind.kv_heads > 0) block.kv_heads = kind.kv_heads;
  if (kind.feed_forward > 0) block.feed_forward = kind.feed_forward;
  return block;
}

bool has_attention(const TransformerShape& block) {
  return block.block_kinds.size() != 1 || block.block_kinds.front().attention;
}

bool has_mlp(const TransformerShape& block) { return block.block_kinds.size() != 1 || block.block_kinds.front().mlp; }

std::int64_t norms_in_block(const TransformerShape& block) {
  const int halves = (has_attention(block) ? 1 : 0) + (has_mlp(block) ? 1 : 0);
  return halves * block.block_norms / 2;
}

bool groups_hold_experts(const TransformerShape& shape) {
  const std::int64_t groups = shape.expert_groups;
  if (groups == 0) return true;
  const bool even = shape.experts % groups == 0 && shape.groups_per_token >= 1 && shape.groups_per_token <= groups;
  return even && shape.experts / groups * shape.groups_per_token >= shape.experts_per_token;
}

std::int64_t predictor_parameters(const TransformerShape& shape) {
  return 3 * norm_parameters(shape, shape.hidden) + 2 * shape.hidden * shape.hidden +
         block_parameters(shape, shape.experts > 0);
}

bool has_experts(const TransformerShape& shape, std::int64_t block) {
  if (!shape.kind_of_block.empty()) {
    const int experts = shape.block_kinds[shape.kind_of_block[static_cast<std::size_t>(block)]].experts;
    if (experts >= 0) return experts == 1;
  }
  return shape.experts > 0 && block >= shape.dense_layers && (block - shape.dense_layers) % shape.moe_every == 0;
}

std::int64_t main_parameters(const TransformerShape& shape) {
  std::int64_t all = embedding_parameters(shape) + head_parameters(shape);
  if (shape.tied_embedding) all -= shape.vocabulary * shape.hidden;
  const std::int64_t balance = shape.expert_balance ? shape.experts : 0;
  for (std::int64_t block = 0; block < shape.layers; ++block) {
    all += has_experts(shape, block) ? balance : 0;
    all += block_parameters(block_shape(shape, block_variant(shape, block)), has_experts(shape, block));
  }
  return all;
}

std::int64_t model_parameters(const TransformerShape& shape) {
  const std::int64_t balance = shape.expert_balance ? shape.experts : 0;
  return main_parameters(shape) + shape.predicted_tokens * (predictor_parameters(shape) + balance);
}

}  // namespace debubble
