// TransformerShape: the sizes of a decoder-only transformer, as a measured workload or a cost formula needs them.
#pragma once

#include <cstdint>
#include <string>

namespace debubble {

enum class NormKind { kLayerNorm, kRmsNorm };
enum class ActivationKind { kGelu, kSilu };

// GPT: LayerNorm, GELU, biases, learned positions. LLaMA: RMSNorm, SwiGLU (gated SiLU), no biases, rotary positions,
// fewer key/value heads than heads (GQA).
struct TransformerShape {
  std::string name;  // "gpt-1.3b"
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;      // = heads without grouping; divides heads
  std::int64_t head_size = 0;     // usually hidden / heads
  std::int64_t feed_forward = 0;  // width of the MLP
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;  // rows of the learned position table; 0: rotary positions
  double rotary_base = 10000.0;
  NormKind norm = NormKind::kLayerNorm;
  ActivationKind activation = ActivationKind::kGelu;
  bool gated = false;  // SwiGLU: two input projections, multiplied
  bool biases = true;
  bool qkv_biases = false;     // of the query/key/value projection alone, where biases is false (Qwen2)
  bool tied_embedding = true;  // the head uses the embedding's weights

  // Mixture of experts, DeepSeek's and Mixtral's; experts = 0: every block is dense.
  std::int64_t experts = 0;
  std::int64_t experts_per_token = 0;
  std::int64_t shared_experts = 0;       // work on every token
  std::int64_t expert_feed_forward = 0;  // width of one expert
  std::int64_t shared_feed_forward = 0;  // width of all shared experts together
  std::int64_t dense_layers = 0;         // the first ones, without experts
  std::int64_t moe_every = 1;            // every so many-th layer after those has experts

  // Multi-head latent attention (DeepSeek-V2); kv_rank = 0: ordinary heads.
  std::int64_t query_rank = 0;  // 0: queries are not compressed
  std::int64_t kv_rank = 0;
  std::int64_t rope_size = 0;  // of a head, in addition to `head_size` without positions
  std::int64_t value_size = 0;

  std::int64_t predicted_tokens = 0;  // extra modules that predict tokens further ahead (MTP), each a block and a head

  friend bool operator==(const TransformerShape&, const TransformerShape&) = default;
};

// Trainable numbers of one block, of the embedding (with positions), and of the head (with the final norm; the
// projection counts here even when it is tied).
[[nodiscard]] std::int64_t block_parameters(const TransformerShape& shape, bool moe = false);
[[nodiscard]] std::int64_t embedding_parameters(const TransformerShape& shape);
[[nodiscard]] std::int64_t head_parameters(const TransformerShape& shape);
// Of one routed expert, and of one extra module that predicts a token further ahead, which shares embedding and head.
[[nodiscard]] std::int64_t expert_parameters(const TransformerShape& shape);
[[nodiscard]] std::int64_t predictor_parameters(const TransformerShape& shape);
// Whether a block, counted from 0, has experts.
[[nodiscard]] bool has_experts(const TransformerShape& shape, std::int64_t block);
// Of the whole model; tied weights count once.
[[nodiscard]] std::int64_t model_parameters(const TransformerShape& shape);

}  // namespace debubble
