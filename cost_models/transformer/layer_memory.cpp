#include "cost_models/transformer/layer_memory.hpp"

#include <algorithm>

#include "cost_models/transformer/block_ops.hpp"
#include "cost_models/transformer/layer_ops.hpp"
#include "cost_models/transformer/memory_parts.hpp"

namespace debubble {
namespace {

MemoryPart block_memory(const TrainingSetup& setup, bool moe) {
  if (!has_attention(setup.shape)) {
    if (!has_mlp(setup.shape)) return {};
    return moe ? experts_memory(setup) : dense_mlp_memory(setup);
  }
  MemoryPart block = attention_memory(setup);
  if (makes_again(setup, &RecomputeModules::core_attn)) block.recompute_core();
  if (!has_mlp(setup.shape)) return block;
  block.then(moe ? experts_memory(setup) : dense_mlp_memory(setup));
  return block;
}

MemoryPart part_of(const TrainingSetup& setup, const LayerPlace& layer) {
  switch (layer.kind) {
    case LayerPlace::Kind::kEmbedding:
      return embedding_memory(setup);
    case LayerPlace::Kind::kBlock:
      return block_memory(setup, layer.moe);
    case LayerPlace::Kind::kHead:
    case LayerPlace::Kind::kPredictor:
      break;
  }
  std::int64_t outputs = output_layers(setup.shape, layer);
  if (layer.kind == LayerPlace::Kind::kHead) {
    MemoryPart head = head_memory(setup);
    while (--outputs > 0) head.then(head_memory(setup));
    return head;
  }
  MemoryPart predictor = predictor_input_memory(setup);
  predictor.then(block_memory(setup, layer.moe));
  if (outputs > 0) predictor.then(head_memory(setup));
  return predictor;
}

// What is sharded between uses is whole while its layer runs, as in PyTorch's fully_shard: the gradients as matmuls
// give them, the copy in the sums' format that the reduce-scatter reads, which is there until the next layer's is made,
// and the weights of this layer and of the next one, which are fetched meanwhile. Where all stays whole during the
// step, only the gradients that are not added yet.
Bytes sharded_transients(const TrainingSetup& setup, const RankParameters& numbers) {
  const std::int64_t all = numbers.dense + numbers.experts;
  const Bytes low = all * product_weight_bytes(setup);
  if (setup.whole_during_step) return low;
  const Bytes fetched = setup.parallel.zero >= 3 ? 2 * low : 0;
  return fetched + low + all * bytes_of(setup.gradients);
}

// Casts that a microbatch's forward leaves for its backward.
Bytes cast_weights(const TrainingSetup& setup, const LayerPlace& layer) {
  if (!casts_weights(setup) || layer.kind == LayerPlace::Kind::kEmbedding) return 0;
  const RankParameters numbers = matrix_parameters(setup, layer);
  Bytes all = numbers.dense + numbers.experts;
  if (layer.kind != LayerPlace::Kind::kBlock) {
    all += padded_vocabulary(setup) / setup.parallel.tensor * setup.shape.hidden;
  }
  return all * product_weight_bytes(setup);
}

void add_states(const TrainingSetup& setup, const LayerPlace& layer, ModelledMemory& memory) {
  const RankParameters numbers = rank_parameters(setup, layer);
  const Parallelism& parallel = setup.parallel;
  const std::int64_t replicas = parallel.copies();
  const std::int64_t expert_replicas = parallel.expert_copies();
  const RankParameters matrices = matrix_parameters(setup, layer);
  const TrainingStates dense = training_states(numbers.dense, setup, replicas, matrices.dense);
  const TrainingStates experts = training_states(numbers.experts, setup, expert_replicas, matrices.experts);
  memory.weights = dense.weights + experts.weights;
  // Weights that are fetched for each use are cast each time.
  const bool fetched = parallel.zero >= 3 && replicas > 1;
  (fetched ? memory.workspace : memory.weights) += eight_bit_weights(setup, layer);
  memory.gradients = dense.gradients + experts.gradients;
  memory.optimizer = dense.optimizer + experts.optimizer;
  if (parallel.zero >= 2 && replicas > 1) memory.workspace += sharded_transients(setup, numbers);
}

}  // namespace

ModelledMemory layer_memory(const TrainingSetup& whole, const LayerPlace& layer) {
  const LayerSetup own(whole, layer);
  const TrainingSetup& setup = *own;
  const RankSizes sizes(setup);
  const MemoryPart part = part_of(setup, layer);
  const Bytes plane = sizes.row_share * setup.shape.hidden * sizes.element;
  ModelledMemory memory;
  memory.activation = part.kept() + cast_weights(setup, layer);
  memory.weight_grad_held = part.held();
  memory.activation_tensors = part.tensors();
  memory.workspace = part.transient();
  constexpr Bytes kTokenNumber = 8;
  memory.checkpoint = layer.kind == LayerPlace::Kind::kEmbedding ? sizes.tokens * kTokenNumber : plane;
  const bool last = layer.kind == LayerPlace::Kind::kHead && setup.shape.predicted_tokens == 0;
  memory.output = last ? 0 : plane;
  if (setup.recompute == Recompute::kFull && layer.kind == LayerPlace::Kind::kBlock) {
    // Everything is made again when its backward begins.
    memory.workspace += memory.activation;
    memory.activation = memory.checkpoint;
    memory.activation_tensors = 1;
  }
  if (keeps_outputs(setup) && layer.kind == LayerPlace::Kind::kBlock) {
    const OpList::Kept kept = kept_outputs(setup, layer);
    memory.workspace += std::max<Bytes>(0, memory.activation - kept.bytes);
    memory.activation = memory.checkpoint + kept.bytes;
    memory.activation_tensors = kept.tensors + 1;
  }
  memory.buffers = layer_buffers(setup, layer);
  add_states(setup, layer, memory);
  return memory;
}

}  // namespace debubble
