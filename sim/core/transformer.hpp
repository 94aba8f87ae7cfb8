// TransformerShape: the sizes of a decoder-only transformer, as a measured workload or a cost formula needs them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace debubble {

enum class NormKind { kLayerNorm, kRmsNorm };
enum class ActivationKind { kGelu, kSilu };
// Of queries and keys, before they are turned: with weights of one head, which all share; of all heads; without any.
enum class QueryKeyNorm : std::uint8_t { kNone, kHead, kWhole, kPlain };

// Where layers of multi-token prediction lie: behind the head; before it, on its stage; on an earlier stage, whose
// output layers the head then runs.
enum class PredictorPlace : std::uint8_t { kBehindHead, kWithHead, kApart };

// What a block has otherwise than the model says: of networks that a search has thinned out, or whose blocks differ.
struct BlockKind {
  bool attention = true;          // with the norm before it
  bool mlp = true;                // the same; experts, too
  bool windowed = false;          // sees TransformerShape::window
  int experts = -1;               // 1: has experts, 0: is dense, -1: as dense_layers and moe_every say
  std::int64_t kv_heads = 0;      // 0: the model's
  std::int64_t feed_forward = 0;  // 0: the model's

  friend bool operator==(const BlockKind&, const BlockKind&) = default;
};

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
  std::int64_t vocabulary_unit = 128;  // its rows are padded to a multiple of so many x tensor ranks
  std::int64_t positions = 0;          // rows of the learned position table; 0: rotary positions
  double rotary_base = 10000.0;
  NormKind norm = NormKind::kLayerNorm;
  ActivationKind activation = ActivationKind::kGelu;
  bool gated = false;  // SwiGLU: two input projections, multiplied
  bool biases = true;
  bool qkv_biases = false;     // of the query/key/value projection alone, where biases is false (Qwen2)
  bool tied_embedding = true;  // the head uses the embedding's weights

  // Biases where `biases` is false: of attention's output, of MLPs and experts, of the router, of the logits.
  bool output_bias = false;
  bool mlp_biases = false;
  bool router_bias = false;
  bool head_bias = false;

  std::int64_t norm_vectors = -1;  // that a norm trains: weight and bias; -1: 2 of a LayerNorm, 1 of an RMSNorm
  std::int64_t block_norms = 2;    // 1: attention and MLP read one normed input; 4: their outputs are normed, too
  bool embedding_norm = false;     // behind the embedding (BLOOM)
  QueryKeyNorm qk_norm = QueryKeyNorm::kNone;
  bool attention_sinks = false;  // one trained number for each head, a part of the softmax (gpt-oss)

  // Attention to the last `window` tokens, itself among them, instead of all; 0: all blocks see all.
  std::int64_t window = 0;
  std::int64_t full_every = 0;  // every so many-th block sees all; 0: none does
  std::int64_t full_first = 0;  // as do the first so many
  bool chunked_window = false;  // the window begins anew at every multiple of its size (Llama 4)

  // Mixture of experts, DeepSeek's and Mixtral's; experts = 0: every block is dense.
  std::int64_t experts = 0;
  std::int64_t experts_per_token = 0;
  std::int64_t expert_groups = 0;  // a token's experts lie in `groups_per_token` of these; 0: in any
  std::int64_t groups_per_token = 0;
  std::int64_t shared_experts = 0;       // work on every token
  std::int64_t expert_feed_forward = 0;  // width of one expert
  std::int64_t shared_feed_forward = 0;  // width of all shared experts together
  std::int64_t dense_layers = 0;         // the first ones, without experts
  std::int64_t moe_every = 1;            // every so many-th layer after those has experts
  bool expert_balance = false;           // a number for each expert that no gradient trains (DeepSeek-V3)
  bool shared_gate = false;              // a number for each token weighs the shared experts (Qwen2)

  // Multi-head latent attention (DeepSeek-V2); kv_rank = 0: ordinary heads.
  std::int64_t query_rank = 0;  // 0: queries are not compressed
  std::int64_t kv_rank = 0;
  std::int64_t rope_size = 0;  // of a head, in addition to `head_size` without positions
  std::int64_t value_size = 0;

  std::int64_t predicted_tokens = 0;  // extra modules that predict tokens further ahead (MTP), each a block and a head
  PredictorPlace predictor_place = PredictorPlace::kBehindHead;

  // Where blocks differ in more than that: their kinds, and the kind of every block. Both empty: they do not.
  std::vector<BlockKind> block_kinds;
  std::vector<std::uint16_t> kind_of_block;

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
// Numbers that a norm of that width trains.
[[nodiscard]] std::int64_t norm_parameters(const TransformerShape& shape, std::int64_t width);

// Blocks that are alike but for experts have the same variant; 0: as the model's sizes say, seeing all tokens.
[[nodiscard]] std::int64_t block_variant(const TransformerShape& shape, std::int64_t block);
// The model's sizes as a block of that variant has them: `window` is the block's own, 0 where it sees all. Of
// `block_kinds` none but the block's is left, if it has one.
[[nodiscard]] TransformerShape block_shape(const TransformerShape& shape, std::int64_t variant);
// What is there of a block of such a shape.
[[nodiscard]] bool has_attention(const TransformerShape& block);
[[nodiscard]] bool has_mlp(const TransformerShape& block);
// How many of its `block_norms`: each half has its share.
[[nodiscard]] std::int64_t norms_in_block(const TransformerShape& block);
// Whether experts lie in their groups evenly, and those of a token have as many as it takes.
[[nodiscard]] bool groups_hold_experts(const TransformerShape& shape);
// Of the whole model without the extra modules; tied weights count once.
[[nodiscard]] std::int64_t main_parameters(const TransformerShape& shape);
// Of the whole model; tied weights count once.
[[nodiscard]] std::int64_t model_parameters(const TransformerShape& shape);

}  // namespace debubble
