// Weights of a layer on one rank, and what their training holds all the time.
#include <algorithm>
#include <string>

#include "cost_models/transformer/layer_memory.hpp"
#include "cost_models/transformer/memory_parts.hpp"

namespace debubble {
namespace {

// Of one weight matrix on one rank.
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// Numbers of a block that every tensor rank holds whole: norms, biases after split inputs, the router, and what
// latent attention projects down to.
std::int64_t replicated_in_block(const TransformerShape& shape, bool moe) {
  std::int64_t numbers = norms_in_block(shape) * norm_parameters(shape, shape.hidden);
  if ((shape.biases || shape.output_bias) && has_attention(shape)) numbers += shape.hidden;
  if ((shape.biases || shape.mlp_biases) && has_mlp(shape)) numbers += shape.hidden;
  if (moe) numbers += shape.hidden * shape.experts + (shape.router_bias ? shape.experts : 0);
  if (moe && shape.shared_gate) numbers += shape.hidden;
  if (!has_attention(shape)) return numbers;
  if (shape.qk_norm == QueryKeyNorm::kHead) numbers += 2 * shape.head_size;
  if (shape.kv_rank == 0) return numbers;
  const bool biases = shape.biases || shape.qkv_biases;
  for (const std::int64_t width : {shape.query_rank, shape.kv_rank + shape.rope_size}) {
    numbers += width * shape.hidden + (biases ? width : 0);
  }
  return numbers + norm_parameters(shape, shape.query_rank + shape.kv_rank);
}

RankParameters block_on_rank(const TrainingSetup& setup, bool moe) {
  const TransformerShape& shape = setup.shape;
  const int tensor = setup.parallel.tensor;
  const std::int64_t experts = moe ? shape.experts * expert_parameters(shape) : 0;
  const std::int64_t whole = block_parameters(shape, moe) - experts;
  const std::int64_t replicated = tensor > 1 ? replicated_in_block(shape, moe) : 0;
  RankParameters numbers;
  numbers.dense = replicated + share_of(whole - replicated, tensor);
  if (moe)
    numbers.experts = share_of(shape.experts, setup.parallel.expert) *
                      share_of(expert_parameters(shape), setup.parallel.split_of_expert());
  return numbers;
}

std::int64_t table_on_rank(const TrainingSetup& setup) {
  return padded_vocabulary(setup) / setup.parallel.tensor * setup.shape.hidden;
}

void add_attention(const TrainingSetup& setup, std::vector<Matrix>& list) {
  const TransformerShape& shape = setup.shape;
  const std::int64_t heads = share_of(shape.heads, setup.parallel.tensor);
  if (shape.kv_rank == 0) {
    const std::int64_t pairs = share_of(shape.kv_heads, setup.parallel.tensor);
    list.push_back({(heads + 2 * pairs) * shape.head_size, shape.hidden});
    list.push_back({shape.hidden, heads * shape.head_size});
    return;
  }
  const std::int64_t queries = heads * (shape.head_size + shape.rope_size);
  if (shape.query_rank > 0) list.push_back({shape.query_rank, shape.hidden});
  list.push_back({queries, shape.query_rank > 0 ? shape.query_rank : shape.hidden});
  list.push_back({shape.kv_rank + shape.rope_size, shape.hidden});
  list.push_back({heads * (shape.head_size + shape.value_size), shape.kv_rank});
  list.push_back({shape.hidden, heads * shape.value_size});
}

// Split over so many ranks.
void add_mlp_matrices(const TrainingSetup& setup, std::int64_t width, int ranks, std::vector<Matrix>& list) {
  const std::int64_t own = share_of(width, ranks);
  list.push_back({(setup.shape.gated ? 2 : 1) * own, setup.shape.hidden});
  list.push_back({setup.shape.hidden, own});
}

// Of a block, but for experts.
void add_dense_matrices(const TrainingSetup& setup, bool moe, std::vector<Matrix>& list) {
  if (has_attention(setup.shape)) add_attention(setup, list);
  if (!has_mlp(setup.shape)) return;
  const std::int64_t width = moe ? setup.shape.shared_feed_forward : setup.shape.feed_forward;
  if (width > 0) add_mlp_matrices(setup, width, setup.parallel.tensor, list);
}

// Numbers of one rank's matrices that 8-bit matmuls read: all of a block's, but the router's, which stays in 16 bits,
// as the head does.
RankParameters eight_bit_numbers(const TrainingSetup& setup, const LayerPlace& layer) {
  RankParameters numbers;
  if (layer.kind != LayerPlace::Kind::kBlock && layer.kind != LayerPlace::Kind::kPredictor) return numbers;
  std::vector<Matrix> list;
  add_dense_matrices(setup, layer.moe, list);
  for (const Matrix& matrix : list) numbers.dense += matrix.rows * matrix.columns;
  if (layer.moe) numbers.experts = rank_parameters(setup, layer).experts;
  return numbers;
}

// Every weight matrix that a matmul with accumulated gradients trains. The embedding's is not one.
std::vector<Matrix> matrices(const TrainingSetup& setup, const LayerPlace& layer) {
  std::vector<Matrix> list;
  const bool predictor = layer.kind == LayerPlace::Kind::kPredictor;
  if (layer.kind == LayerPlace::Kind::kBlock || predictor) {
    add_dense_matrices(setup, layer.moe, list);
    if (layer.moe) add_mlp_matrices(setup, setup.shape.expert_feed_forward, setup.parallel.split_of_expert(), list);
  }
  if (layer.kind == LayerPlace::Kind::kHead || predictor) {
    list.push_back({padded_vocabulary(setup) / setup.parallel.tensor, setup.shape.hidden});
  }
  if (predictor) list.push_back({share_of(setup.shape.hidden, setup.parallel.tensor), 2 * setup.shape.hidden});
  return list;
}

}  // namespace

std::int64_t padded_vocabulary(const TrainingSetup& setup) {
  const std::int64_t unit = std::max<std::int64_t>(1, setup.shape.vocabulary_unit) * setup.parallel.tensor;
  return share_of(setup.shape.vocabulary, unit) * unit;
}

RankParameters rank_parameters(const TrainingSetup& whole, const LayerPlace& layer) {
  const LayerSetup own(whole, layer);
  const TrainingSetup& setup = *own;
  const TransformerShape& shape = setup.shape;
  const std::int64_t norm = norm_parameters(shape, shape.hidden);
  const bool one_stage = setup.parallel.pipeline == 1;
  // Megatron-LM's norm behind the last block stays with it where predictors come before the head.
  const bool norm_with_block = shape.predictor_place != PredictorPlace::kBehindHead;
  RankParameters numbers;
  switch (layer.kind) {
    case LayerPlace::Kind::kEmbedding:
      numbers.dense = table_on_rank(setup) + shape.positions * shape.hidden + (shape.embedding_norm ? norm : 0);
      break;
    case LayerPlace::Kind::kBlock:
      numbers = block_on_rank(setup, layer.moe);
      if (norm_with_block && layer.number + 1 == shape.layers) numbers.dense += norm;
      break;
    case LayerPlace::Kind::kHead:
      // Tied weights lie twice where the first stage is not the last.
      numbers.dense = (norm_with_block ? 0 : norm) + (shape.tied_embedding && one_stage ? 0 : table_on_rank(setup));
      if (shape.head_bias) numbers.dense += padded_vocabulary(setup) / setup.parallel.tensor;
      break;
    case LayerPlace::Kind::kPredictor:
      numbers = block_on_rank(setup, layer.moe);
      numbers.dense += 3 * norm + share_of(2 * shape.hidden * shape.hidden, setup.parallel.tensor);
      // It looks tokens up; a tied head on its stage is the table.
      if (layer.number == 0 && !one_stage &&
          (!shape.tied_embedding || shape.predictor_place == PredictorPlace::kApart)) {
        numbers.dense += table_on_rank(setup);
      }
      break;
  }
  return numbers;
}

Bytes eight_bit_weights(const TrainingSetup& setup, const LayerPlace& layer) {
  if (setup.compute != NumberFormat::kFp8 || setup.eight_bit_weights_alone) return 0;
  const LayerSetup own(setup, layer);
  const RankParameters numbers = eight_bit_numbers(*own, layer);
  return 2 * (numbers.dense + numbers.experts);
}

RankParameters matrix_parameters(const TrainingSetup& whole, const LayerPlace& layer) {
  const LayerSetup own(whole, layer);
  const TrainingSetup& setup = *own;
  const TransformerShape& shape = setup.shape;
  RankParameters numbers = eight_bit_numbers(setup, layer);
  if (layer.moe && has_mlp(shape)) numbers.dense += shape.hidden * (shape.experts + (shape.shared_gate ? 1 : 0));
  if (layer.kind == LayerPlace::Kind::kPredictor) {
    numbers.dense += share_of(2 * shape.hidden * shape.hidden, setup.parallel.tensor);
  }
  return numbers;
}

TrainingStates training_states(std::int64_t parameters, const TrainingSetup& setup, std::int64_t replicas,
                               std::int64_t matrices) {
  TrainingStates states;
  states.weights = parameters * bytes_of(setup.weights);
  states.gradients = parameters * bytes_of(setup.gradients);
  if (setup.keeps_low_gradients) states.gradients += parameters * product_weight_bytes(setup);
  states.optimizer = parameters * master_bytes(setup);
  if (setup.matrix_momentum) {
    states.optimizer += matrices * bytes_of(setup.moment_format);
    states.optimizer += 2 * (parameters - matrices) * bytes_of(setup.second_format);
  } else {
    if (setup.moments > 0) states.optimizer += parameters * bytes_of(setup.moment_format);
    if (setup.moments > 1) states.optimizer += parameters * bytes_of(setup.second_format);
  }
  if (setup.parallel.zero >= 1) states.optimizer = share_of(states.optimizer, replicas);
  if (setup.parallel.zero >= 2) states.gradients = share_of(states.gradients, replicas);
  if (setup.parallel.zero >= 3) states.weights = share_of(states.weights, replicas);
  return states;
}

std::vector<SharedBuffer> layer_buffers(const TrainingSetup& whole, const LayerPlace& layer) {
  const LayerSetup own(whole, layer);
  const TrainingSetup& setup = *own;
  std::vector<SharedBuffer> buffers;
  if (layer.kind == LayerPlace::Kind::kEmbedding) return buffers;
  // Their names are short, so that a layer is copied without memory of their own for them.
  // 32 MiB each for PyTorch's matmuls and for Transformer Engine's; matmuls of many experts run on four streams.
  constexpr Bytes kWorkspace = 32 * kMebibyte;
  buffers.push_back({"workspace", 2 * kWorkspace});
  if (layer.moe) buffers.push_back({"experts' space", 4 * kWorkspace});
  // A matmul that adds to the accumulated gradient itself still hands one on: an empty one, kept once per shape.
  if (setup.fused_accumulation && bytes_of(setup.gradients) > bytes_of(setup.weights)) {
    for (const Matrix& matrix : matrices(setup, layer)) {
      buffers.push_back({std::to_string(matrix.rows) + "x" + std::to_string(matrix.columns),
                         matrix.rows * matrix.columns * bytes_of(setup.weights)});
    }
  }
  const bool has_head = layer.kind == LayerPlace::Kind::kHead || layer.kind == LayerPlace::Kind::kPredictor;
  if (has_head && setup.parallel.sequence && setup.parallel.tensor > 1) {
    const RankSizes sizes(setup);
    buffers.push_back({"gathered input", sizes.tokens * setup.shape.hidden * sizes.element});
  }
  return buffers;
}

}  // namespace debubble
