// What a transformer layer holds on one rank: weights, gradients, optimizer state, activations, buffers.
//
// Activations follow Korthikanti et al. (arXiv 2205.05198) for GPT layers and our own count for LLaMA-like, MoE and MLA
// layers; sharding of states follows ZeRO (Rajbhandari et al., SC 2020) and Megatron's distributed optimizer. Buffers
// and transients are those of Megatron-LM with Transformer Engine (docs/memory.md says which and how they were found).
#pragma once

#include <cstdint>
#include <vector>

#include "cost_models/transformer/setup.hpp"
#include "sim/core/profile.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct ModelledMemory {
  Bytes weights = 0;  // with their 8-bit copies
  Bytes gradients = 0;
  Bytes optimizer = 0;   // moments and master weights
  Bytes activation = 0;  // of one microbatch, kept for backward, after the setup's recomputation
  // What the weight gradients need once the input gradient is there: inputs and output gradients of the matmuls.
  Bytes weight_grad_held = 0;
  Bytes checkpoint = 0;                 // the layer's input, which full recomputation keeps
  Bytes output = 0;                     // handed to the next stage by one rank
  Bytes workspace = 0;                  // the most that is held in addition to `activation` while the layer runs
  std::vector<SharedBuffer> buffers;    // all the time
  std::int32_t activation_tensors = 0;  // into which `activation` falls
};

// Of one rank. Sizes are rounded up where they do not divide.
[[nodiscard]] ModelledMemory layer_memory(const TrainingSetup& setup, const LayerPlace& layer);

// Numbers that one rank trains in that layer. `experts` are split over fewer ranks than the rest is replicated on.
struct RankParameters {
  std::int64_t dense = 0;
  std::int64_t experts = 0;
};
[[nodiscard]] RankParameters rank_parameters(const TrainingSetup& setup, const LayerPlace& layer);
// Those of them in matrices of a block or of a prediction head's: no norms, biases, embeddings and heads.
[[nodiscard]] RankParameters matrix_parameters(const TrainingSetup& setup, const LayerPlace& layer);

struct TrainingStates {
  Bytes weights = 0;
  Bytes gradients = 0;
  Bytes optimizer = 0;
};
// Of so many numbers, `matrices` of them in matrices, where `replicas` ranks train the same ones and share what
// setup.parallel.zero lets them share.
[[nodiscard]] TrainingStates training_states(std::int64_t parameters, const TrainingSetup& setup, std::int64_t replicas,
                                             std::int64_t matrices = 0);

// Copies of the layer's weights in 8 bits, as they are and transposed, beside the 16-bit ones; 0 where there are none.
// They stay, but where ZeRO-3 fetches the weights for each use.
[[nodiscard]] Bytes eight_bit_weights(const TrainingSetup& setup, const LayerPlace& layer);

// Rows of the embedding and the head: Megatron fills up to whole multiples of 128 per tensor rank.
[[nodiscard]] std::int64_t padded_vocabulary(const TrainingSetup& setup);

}  // namespace debubble
