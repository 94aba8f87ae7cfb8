#include "cost_models/transformer/memory_parts.hpp"

#include <algorithm>
#include <cmath>

#include "cost_models/transformer/layer_memory.hpp"

namespace debubble {
namespace {

constexpr Bytes kSingle = 4;  // bytes of a 32-bit number

Bytes plane(const TrainingSetup& setup, const RankSizes& sizes) {
  return sizes.row_share * setup.shape.hidden * sizes.element;
}

// All tokens of the rank, where sequence parallelism has gathered them.
Bytes gathered_plane(const TrainingSetup& setup, const RankSizes& sizes) {
  return sizes.tokens * setup.shape.hidden * sizes.element;
}

bool gathers(const TrainingSetup& setup) { return setup.parallel.sequence && setup.parallel.tensor > 1; }

// Of a number that a matmul with weights reads. 8-bit matmuls keep their inputs as they read them, and so it is with
// the gradients of their outputs (Transformer Engine).
Bytes operand_size(const TrainingSetup& setup, const RankSizes& sizes) {
  return setup.compute == NumberFormat::kFp8 ? 1 : sizes.element;
}

Bytes operand_plane(const TrainingSetup& setup, const RankSizes& sizes) {
  return sizes.row_share * setup.shape.hidden * operand_size(setup, sizes);
}

// A norm keeps its input, which is the residual stream too; what it makes is the input of the matmuls after it.
void add_norm(const TrainingSetup& setup, const RankSizes& sizes, MemoryPart& part) {
  part.keep(plane(setup, sizes));
  part.keep_input(plane(setup, sizes));
}

// Before one matmul, of which it is a part: nothing but the matmul reads what it makes.
void add_fused_norm(const TrainingSetup& setup, const RankSizes& sizes, MemoryPart& part) {
  part.keep(plane(setup, sizes));
  part.keep_input(operand_plane(setup, sizes));
}

// Before latent attention two matmuls read it, and each makes its own 8-bit copy.
void add_latent_norm(const TrainingSetup& setup, const RankSizes& sizes, MemoryPart& part) {
  part.keep(plane(setup, sizes));
  if (makes_again(setup, &RecomputeModules::layernorm)) return part.make_input_again(plane(setup, sizes));
  if (setup.compute != NumberFormat::kFp8) return part.keep_input(plane(setup, sizes));
  for (int k = 0; k < 2; ++k) part.keep_input(operand_plane(setup, sizes));
}

// Before experts the router reads it in 16 bits, and shared experts may have an 8-bit copy beside.
void add_expert_norm(const TrainingSetup& setup, const RankSizes& sizes, MemoryPart& part) {
  part.keep(plane(setup, sizes));
  if (makes_again(setup, &RecomputeModules::layernorm)) return part.make_input_again(plane(setup, sizes));
  part.keep_input(plane(setup, sizes));
}

// The projection's gradient is that of the residual stream, on all tokens of this rank.
void add_end(const TrainingSetup& setup, const RankSizes& sizes, MemoryPart& part) {
  part.hold_gradient(operand_plane(setup, sizes));
  if (setup.dropout) part.keep(sizes.row_share * setup.shape.hidden);  // a mask of one byte per number
}

// A norm of a half's output keeps that output, which nothing else does.
void add_output_norm(const TrainingSetup& setup, const RankSizes& sizes, MemoryPart& part) {
  if (setup.shape.block_norms > 2) part.keep(plane(setup, sizes));
}

struct HeadBytes {
  Bytes queries = 0, keys = 0, values = 0;
  Bytes result = 0;
};

// Heads: queries, keys and values as the attention core reads them. Fewer key/value heads than ranks: each has one.
HeadBytes head_bytes(const TrainingSetup& setup, const RankSizes& sizes) {
  const TransformerShape& shape = setup.shape;
  const std::int64_t heads = share_of(shape.heads, sizes.tensor);
  const std::int64_t row = sizes.tokens * sizes.element;
  if (shape.kv_rank > 0) {
    const std::int64_t key = shape.head_size + shape.rope_size;
    const Bytes value = row * heads * shape.value_size;
    return {row * heads * key, row * heads * key, value, value};
  }
  const Bytes keys = row * share_of(shape.kv_heads, sizes.tensor) * shape.head_size;
  const Bytes queries = row * heads * shape.head_size;
  return {queries, keys, keys, queries};
}

// The narrow space of latent attention: what was projected down, before and after its norm. Every tensor rank makes it
// whole for its own tokens.
void add_latents(const TrainingSetup& setup, const RankSizes& sizes, MemoryPart& part) {
  const TransformerShape& shape = setup.shape;
  const Bytes row = sizes.row_share * sizes.element;
  const Bytes operands = sizes.row_share * operand_size(setup, sizes);
  const auto normed = [&](std::int64_t width) {
    if (makes_again(setup, &RecomputeModules::mla_up_proj)) return part.make_input_again(operands * width);
    part.keep_input(operands * width);
  };
  if (shape.query_rank > 0) {
    part.keep(row * shape.query_rank);
    normed(shape.query_rank);
    part.hold_gradient(operands * shape.query_rank);
  }
  part.keep(row * (shape.kv_rank + shape.rope_size));
  normed(shape.kv_rank);
  part.hold_gradient(operands * (shape.kv_rank + shape.rope_size));
}

void add_core(const TrainingSetup& setup, const RankSizes& sizes, const HeadBytes& heads, MemoryPart& part) {
  const std::int64_t own_heads = share_of(setup.shape.heads, sizes.tensor);
  if (setup.flash_attention) {
    part.keep_core(sizes.tokens * own_heads * kSingle);  // the logarithm of each row's sum
    const bool ring = setup.parallel.context > 1 && !setup.context_all_to_all;
    if (ring) part.keep_core(heads.queries);  // its own copy of the result, in addition to what the caller keeps
    part.at_most(heads.result + heads.queries + heads.keys + heads.values);
    return;
  }
  const std::int64_t scores = own_heads * sizes.tokens * setup.sequence;
  part.keep_core(scores * sizes.element);  // softmax
  if (setup.dropout) {
    part.keep_core(scores);                  // mask
    part.keep_core(scores * sizes.element);  // what dropout leaves
  }
  part.at_most(2 * scores * sizes.element);  // gradients after and before the softmax
}

// Up and down: what goes up makes gate and value where gated.
// `width`: of this rank.
void add_mlp_memory(const TrainingSetup& setup, std::int64_t tokens, std::int64_t width, const RankSizes& sizes,
                    MemoryPart& part, bool activation_again = false) {
  const std::int64_t numbers = tokens * width;
  const Bytes operands = numbers * operand_size(setup, sizes);
  const std::int64_t ways = setup.shape.gated ? 2 : 1;
  const Bytes up = ways * numbers * sizes.element;
  part.keep(up);
  activation_again ? part.make_input_again(operands) : part.keep_input(operands);
  part.hold_gradient(ways * operands);
  // After the second matmul its input is gone; then there are the gradients of both sides of the activation function.
  part.at_most(up + numbers * sizes.element - operands);
}

}  // namespace

MemoryPart attention_memory(const TrainingSetup& setup) {
  const RankSizes sizes(setup);
  const HeadBytes heads = head_bytes(setup, sizes);
  const bool latent = setup.shape.kv_rank > 0;
  const bool projected_again = latent && makes_again(setup, &RecomputeModules::mla_up_proj);
  const auto operands = [&](Bytes bytes) { return bytes / sizes.element * operand_size(setup, sizes); };
  MemoryPart part;
  latent ? add_latent_norm(setup, sizes, part) : add_fused_norm(setup, sizes, part);
  if (latent) {
    add_latents(setup, sizes, part);
    part.hold_gradient(operands(heads.queries));
    // One matmul makes what keys and values need; the positions of keys come separately.
    const std::int64_t own_heads = share_of(setup.shape.heads, sizes.tensor);
    const Bytes row = sizes.tokens * operand_size(setup, sizes);
    part.hold_gradient(row * own_heads * (setup.shape.head_size + setup.shape.value_size));
  } else {
    part.hold_gradient(operands(heads.queries + heads.keys + heads.values));
  }
  for (const Bytes bytes : {heads.queries, heads.keys, heads.values}) {
    projected_again ? part.make_again(bytes) : part.keep(bytes);
  }
  if (setup.shape.qk_norm != QueryKeyNorm::kNone) part.keep(heads.queries + heads.keys);
  add_core(setup, sizes, heads, part);
  // The backward of flash attention reads its result, too, and 8-bit matmuls have a copy of their own.
  if (setup.flash_attention && setup.compute == NumberFormat::kFp8) part.keep_core(heads.result);
  part.keep_input(operands(heads.result));
  add_output_norm(setup, sizes, part);
  add_end(setup, sizes, part);
  return part;
}

MemoryPart dense_mlp_memory(const TrainingSetup& setup) {
  const RankSizes sizes(setup);
  const std::int64_t width = setup.shape.feed_forward;
  MemoryPart part;
  if (setup.shape.block_norms > 1) add_fused_norm(setup, sizes, part);  // else attention's is the input here, too
  add_mlp_memory(setup, sizes.tokens, share_of(width, sizes.tensor), sizes, part);
  if (makes_again(setup, &RecomputeModules::mlp)) part.make_all_again(plane(setup, sizes));
  if (gathers(setup)) {
    // Input gathered again and its gradient before it is scattered, when the rest but `up`'s gradient is gone.
    const Bytes inner = sizes.tokens * share_of(width, sizes.tensor) * sizes.element;
    part.at_most(2 * gathered_plane(setup, sizes) - inner);
  }
  add_output_norm(setup, sizes, part);
  add_end(setup, sizes, part);
  return part;
}

namespace {

// Router, routed and shared experts, without the norm before them.
MemoryPart inside_experts(const TrainingSetup& setup, const RankSizes& sizes) {
  const TransformerShape& shape = setup.shape;
  const double factor = setup.capacity_factor > 0 ? setup.capacity_factor : setup.expert_imbalance;
  const auto routed = static_cast<double>(sizes.tokens * shape.experts_per_token) * tokens_gathered(setup.parallel);
  const std::int64_t arrived = std::llround(std::ceil(routed * factor));
  const Bytes copies = arrived * shape.hidden * sizes.element;
  const Bytes operands = arrived * shape.hidden * operand_size(setup, sizes);
  MemoryPart part;
  part.keep(sizes.row_share * shape.experts * kSingle);  // scores
  part.keep(sizes.row_share * shape.experts * kSingle);  // probabilities
  part.keep(sizes.row_share * shape.experts);            // which token goes where
  part.hold_gradient(sizes.row_share * shape.experts * kSingle);
  part.keep_input(operands);  // sorted by expert
  add_mlp_memory(setup, arrived, share_of(shape.expert_feed_forward, setup.parallel.split_of_expert()), sizes, part,
                 makes_again(setup, &RecomputeModules::moe_act));
  part.hold_gradient(operands);
  if (shape.shared_feed_forward > 0) {
    MemoryPart shared;
    if (setup.compute == NumberFormat::kFp8) shared.keep_input(operand_plane(setup, sizes));
    add_mlp_memory(setup, sizes.tokens, share_of(shape.shared_feed_forward, sizes.tensor), sizes, shared);
    shared.hold_gradient(operand_plane(setup, sizes));
    if (makes_again(setup, &RecomputeModules::shared_experts)) shared.make_all_again(0);
    part.join(shared);
  }
  // Until the layer returns it holds the tokens as permuted and as they arrived, its experts' results, and these as
  // sorted for the return exchange, or as they came back; and the sum of the shared and of the routed experts.
  part.at_most(4 * copies + 2 * plane(setup, sizes));
  return part;
}

}  // namespace

MemoryPart experts_memory(const TrainingSetup& setup) {
  const RankSizes sizes(setup);
  MemoryPart part;
  if (setup.shape.block_norms > 1) add_expert_norm(setup, sizes, part);
  MemoryPart inside = inside_experts(setup, sizes);
  if (makes_again(setup, &RecomputeModules::moe)) inside.make_all_again(0);
  part.join(inside);
  add_output_norm(setup, sizes, part);
  add_end(setup, sizes, part);
  return part;
}

MemoryPart embedding_memory(const TrainingSetup& setup) {
  const RankSizes sizes(setup);
  constexpr Bytes kTokenNumber = 8;
  MemoryPart part;
  part.keep(sizes.tokens * kTokenNumber);
  if (setup.dropout) part.keep(sizes.row_share * setup.shape.hidden);
  if (setup.shape.embedding_norm) part.keep(plane(setup, sizes));
  // The table's gradient is made whole before it is added to what is accumulated.
  part.at_most(padded_vocabulary(setup) / sizes.tensor * setup.shape.hidden * bytes_of(setup.weights));
  return part;
}

MemoryPart head_memory(const TrainingSetup& setup) {
  const RankSizes sizes(setup);
  const std::int64_t logits = sizes.tokens * (padded_vocabulary(setup) / sizes.tensor);
  MemoryPart part;
  add_norm(setup, sizes, part);
  // A fused loss turns the logits into their gradient in place; else a 32-bit copy becomes the softmax, and the 16-bit
  // one, or its gradient, is there at the same time.
  part.keep(logits * (setup.fused_loss ? sizes.element : kSingle));
  part.hold_gradient(logits * sizes.element);
  if (!setup.fused_loss && sizes.element < kSingle) part.at_most(logits * sizes.element);
  const Bytes scattered = gathers(setup) ? plane(setup, sizes) : 0;
  part.at_most(gathered_plane(setup, sizes) + scattered);  // the input's gradient
  return part;
}

MemoryPart predictor_input_memory(const TrainingSetup& setup) {
  const RankSizes sizes(setup);
  MemoryPart part = embedding_memory(setup);
  // Two norms, both of them the input of one matmul.
  for (int k = 0; k < 2; ++k) {
    part.keep(plane(setup, sizes));
    part.keep_input(plane(setup, sizes));
  }
  part.hold_gradient(sizes.tokens * share_of(setup.shape.hidden, sizes.tensor) * sizes.element);
  return part;
}

}  // namespace debubble
