#include <algorithm>

#include "cost_models/transformer/block_ops.hpp"

namespace debubble {
namespace {

using AttentionPhase = LayerOp::Phase;

constexpr double kTurning = 3;  // operations on one number: two products and a sum

// Heads of one rank, and what a head's query, key and value measure.
struct AttentionHeads {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t key = 0;
  std::int64_t value = 0;
};

// A key/value head that serves heads of several ranks is on all of them.
AttentionHeads attention_heads(const TransformerShape& shape, std::int64_t tensor) {
  if (shape.kv_rank > 0) {
    const std::int64_t heads = share_of(shape.heads, tensor);
    return {heads, heads, shape.head_size + shape.rope_size, shape.value_size};
  }
  return {share_of(shape.heads, tensor), share_of(shape.kv_heads, tensor), shape.head_size, shape.head_size};
}

// Latent attention: queries, keys and values come out of a narrow space that every tensor rank computes.
void add_latent_projections(const TrainingSetup& setup, const AttentionHeads& head, OpList& list) {
  const TransformerShape& shape = setup.shape;
  const RankSizes& sizes = list.sizes();
  const Bytes narrow = sizes.row_share * sizes.element;
  const bool again = makes_again(setup, &RecomputeModules::mla_up_proj);
  list.begin_part();
  std::size_t queries = list.parts() - 1;
  if (shape.query_rank > 0) {
    list.linear({"query down", sizes.row_share, shape.hidden, shape.query_rank});
    list.begin_part();
    queries = list.parts() - 1;
    list.elementwise("query norm", 2 * narrow * shape.query_rank, 3 * narrow * shape.query_rank, 1, 2,
                     norm_work(setup, sizes.row_share * shape.query_rank, narrow * shape.query_rank));
    list.begin_part();
  }
  const std::int64_t query_width = shape.query_rank > 0 ? shape.query_rank : shape.hidden;
  list.linear({"query up", sizes.tokens, query_width, head.heads * head.key}, TensorSide::kColumn);
  if (again) list.recompute_from(queries);
  list.begin_part();
  list.linear({"key and value down", sizes.row_share, shape.hidden, shape.kv_rank + shape.rope_size});
  list.begin_part();
  const std::size_t keys = list.parts() - 1;
  list.elementwise("key and value norm", 2 * narrow * shape.kv_rank, 3 * narrow * shape.kv_rank, 1, 2,
                   norm_work(setup, sizes.row_share * shape.kv_rank, narrow * shape.kv_rank));
  list.begin_part();
  const std::int64_t up = head.heads * (shape.head_size + shape.value_size);
  list.linear({"key and value up", sizes.tokens, shape.kv_rank, up}, TensorSide::kColumn);
  list.begin_part();
  // Parts with and without positions are joined: queries once, keys with one shared part for all heads.
  const Bytes joined = Bytes{4} * sizes.tokens * head.heads * head.key * sizes.element;
  PassWork work;
  work.forward = work.backward =
      kTurning * static_cast<double>(sizes.tokens) * static_cast<double>((head.heads + 1) * shape.rope_size);
  list.elementwise("rotary positions and joining", joined, joined, 4, 6, work);
  if (again) list.recompute_from(keys);
}

void add_projections(const TrainingSetup& setup, const AttentionHeads& head, OpList& list) {
  const RankSizes& sizes = list.sizes();
  list.begin_part();
  const std::int64_t out = (head.heads + 2 * head.kv_heads) * head.key;
  Linear qkv{"qkv", sizes.tokens, setup.shape.hidden, out};
  qkv.user_buffers = true;
  qkv.joins = {head.heads * head.key, head.kv_heads * head.key, head.kv_heads * head.key};
  qkv.bias = setup.shape.biases || setup.shape.qkv_biases;
  list.linear(qkv, TensorSide::kColumn);
  const std::int64_t numbers = sizes.tokens * (head.heads + head.kv_heads) * head.key;
  if (setup.shape.qk_norm != QueryKeyNorm::kNone) {
    list.begin_part();
    const Bytes normed = numbers * sizes.element;
    list.elementwise("norms of queries and keys", 2 * normed, 3 * normed, 2, 4, norm_work(setup, numbers, normed));
  }
  if (setup.shape.positions > 0) return;
  list.begin_part();
  const Bytes turned = 2 * numbers * sizes.element;
  PassWork work;
  work.forward = work.backward = kTurning * static_cast<double>(numbers);
  // The projection would write what is turned already; its gradients come from fused attention, which cannot.
  work.forward_joins = LayerOp::Joins::kProductOrPass;
  work.forward_fusable = turned;
  list.elementwise("rotary positions", turned, turned, 2, 2, work);
}

LayerOp context_collective(const char* name, CollectiveKind kind, AttentionPhase phase, Bytes bytes) {
  LayerOp op;
  op.kind = LayerOp::Kind::kCollective;
  op.phase = phase;
  op.name = name;
  op.group = Dimension::kContext;
  op.collective = kind;
  op.collective_bytes = bytes;
  return op;
}

// Keys and values go around the context ranks while attention computes; their gradients follow back.
void add_context_ring(const TrainingSetup& setup, const AttentionHeads& head, OpList& list, bool before) {
  const Bytes bytes =
      setup.sequence * setup.microbatch_size * head.kv_heads * (head.key + head.value) * list.sizes().element;
  for (const AttentionPhase phase : {AttentionPhase::kForward, AttentionPhase::kInputGrad}) {
    LayerOp op = context_collective("all-gather of keys and values", CollectiveKind::kAllGather, phase, bytes);
    op.beside_next = true;
    if (!before) continue;
    phase == AttentionPhase::kForward ? list.forward(op) : list.backward(op);
  }
  if (before) return;
  list.backward(context_collective("reduce-scatter of the gradients of keys and values", CollectiveKind::kReduceScatter,
                                   AttentionPhase::kInputGrad, bytes));
}

// Each context rank gets all tokens of its part of the heads, and gives its tokens of the others (Jacobs et al.,
// DeepSpeed Ulysses, 2023); heads of keys and values that are fewer than the ranks are repeated.
void add_heads_for_tokens(const TrainingSetup& setup, const AttentionHeads& head, OpList& list, bool before) {
  const std::int64_t kv_heads = std::max<std::int64_t>(head.kv_heads, setup.parallel.context);
  const std::int64_t numbers =
      before ? head.heads * head.key + kv_heads * (head.key + head.value) : head.heads * head.value;
  const Bytes bytes = list.sizes().tokens * numbers * list.sizes().element;
  const char* name = before ? "all-to-all of queries, keys and values" : "all-to-all of attention's output";
  list.forward(context_collective(name, CollectiveKind::kAllToAll, AttentionPhase::kForward, bytes));
  list.backward(context_collective(name, CollectiveKind::kAllToAll, AttentionPhase::kInputGrad, bytes));
}

void add_context_exchange(const TrainingSetup& setup, const AttentionHeads& head, OpList& list, bool before) {
  if (setup.parallel.context < 2) return;
  if (!setup.context_all_to_all) return add_context_ring(setup, head, list, before);
  list.begin_part();
  add_heads_for_tokens(setup, head, list, before);
  if (before) list.begin_part();
}

// What one rank's attention works on: its tokens against all, or all tokens of its heads.
struct AttentionSizes {
  AttentionSizes(const TrainingSetup& setup, const AttentionHeads& head, const RankSizes& sizes)
      : heads(head.heads), kv_heads(head.kv_heads), queries(sizes.sequence) {
    if (!setup.context_all_to_all) return;
    heads = share_of(heads, setup.parallel.context);
    kv_heads = share_of(kv_heads, setup.parallel.context);
    queries = setup.sequence;
  }

  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t queries;
};

// Pairs of tokens that a fused kernel works on, of one head. Of a window that ends where each query's does, the tiles
// of 128 keys at its far edge are worked on whole; one that begins anew at multiples of its size has none.
double flash_pairs(const TrainingSetup& setup, std::int64_t queries) {
  constexpr double kTile = 128;
  const auto all = static_cast<double>(setup.sequence);
  const double full = static_cast<double>(queries) * all * (setup.causal ? 0.5 : 1.0);
  const auto window = static_cast<double>(setup.shape.window);
  if (setup.shape.window == 0 || window >= all || !setup.causal) return full;
  const double seen = setup.shape.chunked_window ? window / 2 : window - window * window / (2 * all) + kTile / 2;
  return std::min(full, static_cast<double>(queries) * seen);
}

// Scores never leave the chip; the backward computes them again: five matmuls for the forward's two.
void add_flash(const TrainingSetup& setup, const AttentionHeads& head, OpList& list) {
  const RankSizes& sizes = list.sizes();
  const AttentionSizes mine(setup, head, sizes);
  LayerOp op;
  op.kind = LayerOp::Kind::kAttention;
  op.name = "attention";
  op.batch = setup.microbatch_size * mine.heads;
  op.m = mine.queries;
  op.n = setup.sequence;
  op.k = head.key;
  op.value = head.value;
  op.causal = setup.causal;
  const double pairs = static_cast<double>(op.batch) * flash_pairs(setup, op.m);
  const auto key = static_cast<double>(head.key);
  const auto value = static_cast<double>(head.value);
  op.flops = 2 * pairs * (key + value);
  const std::int64_t width = (head.key + head.value) * setup.microbatch_size * sizes.element;
  const Bytes own = mine.queries * mine.heads * width;
  const Bytes others = setup.sequence * mine.kv_heads * width;
  op.bytes = own + others;
  op.format = sizes.element == 4 ? NumberFormat::kFp32 : NumberFormat::kBf16;
  list.forward(op);
  op.phase = AttentionPhase::kInputGrad;
  op.flops = 2 * pairs * (3 * key + 2 * value);
  op.bytes = 2 * own + 2 * others + own;
  op.kernels = 3;
  list.backward(op);
}

// Two matmuls over all pairs around a softmax. A causal one as Megatron-LM's ("implicit causal masking", Narayanan et
// al., SC 2021, section 4.2) and our own workload's (gpu/workload/kernels/softmax.inc) reads no score that is masked,
// and writes zeros there: the mask shortens neither the matmuls nor the dropout.
void add_scores(const TrainingSetup& setup, const AttentionHeads& head, OpList& list) {
  const AttentionSizes mine(setup, head, list.sizes());
  const std::int64_t batch = setup.microbatch_size * mine.heads;
  const std::int64_t pairs = batch * mine.queries * setup.sequence;
  const Bytes element = list.sizes().element;
  list.matmul("scores", batch, mine.queries, setup.sequence, head.key);
  list.begin_part();
  const std::int64_t seen = setup.causal && setup.effects.causal_softmax ? pairs / 2 : pairs;
  const auto numbers = static_cast<double>(pairs);  // FLOPs count masked pairs, as those of the matmuls do
  PassWork softmax;  // scale, maximum, difference, exponential, sum, quotient; backward product, sum, difference, ...
  softmax.forward = 6 * numbers;
  softmax.backward = 5 * numbers;
  softmax.normalises = true;
  softmax.backward_joins = LayerOp::Joins::kPass;  // the dropout's, which writes only what this reads
  softmax.backward_fusable = element * (pairs + seen);
  list.elementwise("softmax", element * (pairs + seen), element * (pairs + 2 * seen), 1, 1, softmax);
  if (setup.dropout) {
    list.begin_part();
    PassWork dropout;
    dropout.forward = dropout.backward = numbers;
    dropout.forward_joins = LayerOp::Joins::kPass;  // the softmax's result is kept for the backward
    dropout.forward_fusable = element * pairs;
    dropout.backward_joins = LayerOp::Joins::kProductOrPass;
    dropout.backward_fusable = 2 * element * pairs;
    list.elementwise("attention dropout", (2 * element + 1) * pairs, (2 * element + 1) * pairs, 1, 1, dropout);
  }
  list.begin_part();
  list.matmul("weighted values", batch, mine.queries, head.value, setup.sequence);
}

}  // namespace

void add_attention(const TrainingSetup& setup, OpList& list) {
  const TransformerShape& shape = setup.shape;
  const AttentionHeads head = attention_heads(shape, list.sizes().tensor);
  add_norm(setup, list, "norm before attention");
  if (shape.kv_rank > 0) {
    if (makes_again(setup, &RecomputeModules::layernorm)) list.recompute_from(list.parts() - 1);
    add_latent_projections(setup, head, list);
  } else {
    add_projections(setup, head, list);
  }
  list.begin_part();
  add_context_exchange(setup, head, list, true);
  const std::size_t core = list.parts() - 1;
  if (setup.flash_attention) {
    add_flash(setup, head, list);
  } else {
    add_scores(setup, head, list);
  }
  if (makes_again(setup, &RecomputeModules::core_attn)) list.recompute_from(core);
  add_context_exchange(setup, head, list, false);
  list.begin_part();
  Linear projection{"attention out", list.sizes().tokens, head.heads * head.value, shape.hidden};
  projection.user_buffers = true;
  projection.bias = shape.biases || shape.output_bias;
  list.linear(projection, TensorSide::kRow);
  if (shape.block_norms > 2) add_norm(setup, list, "norm after attention");
  add_residual(setup, list);
}

}  // namespace debubble
