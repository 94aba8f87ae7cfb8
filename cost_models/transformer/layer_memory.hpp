// What a transformer layer holds on one rank: weights, gradients, optimizer state, activations, buffers.
//
// Activations follow Korthikanti et al. (arXiv 2205.05198) for GPT layers and our own count for LLaMA-like, MoE and MLA
// layers; sharding of states follows ZeRO (Rajbhandari et al., SC 2020) and Megatron's distributed optimizer.
#pragma once

#include "cost_models/transformer/setup.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct LayerMemory {
  Bytes weights = 0;
  Bytes gradients = 0;
  Bytes optimizer = 0;         // moments and master weights
  Bytes activation = 0;        // of one microbatch, kept for backward, after the setup's recomputation
  Bytes weight_grad_held = 0;  // of these, what the weight gradients need
  Bytes checkpoint = 0;        // the layer's input, which full recomputation keeps
  Bytes output = 0;            // handed to the next stage by one rank
  Bytes workspace = 0;         // while an op of the layer runs, beside what is kept
  Bytes comm_buffers = 0;      // all the time
  std::int32_t activation_tensors = 0;
};

// Of one rank. Sizes are rounded up where they do not divide.
[[nodiscard]] LayerMemory layer_memory(const TrainingSetup& setup, const LayerPlace& layer);

}  // namespace debubble
