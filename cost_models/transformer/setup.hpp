// TrainingSetup: a transformer and how it is trained: all that its layers' costs and sizes depend on, but the hardware.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cost_models/collectives/token_exchange.hpp"
#include "cost_models/transformer/model_effects.hpp"
#include "sim/core/rank_layout.hpp"
#include "sim/core/transformer.hpp"

namespace debubble {

enum class NumberFormat : std::uint8_t { kFp32, kFp16, kBf16, kFp8 };
[[nodiscard]] const char* to_string(NumberFormat format);  // "fp32", "fp16", "bf16", "fp8"
[[nodiscard]] int bytes_of(NumberFormat format);

enum class Recompute : std::uint8_t {
  kNone,
  kSelective,  // some modules again before their backwards: RecomputeModules
  kFull        // every block's forward again from its input, as a part of its B (or I)
};

// How 8-bit products get their scales (Transformer Engine's recipes): one per tensor, from earlier steps or from a pass
// over the tensor itself; one per block of 128 (by 128) numbers; one per 32 numbers, in Blackwell's own format.
enum class Fp8Recipe : std::uint8_t { kDelayed, kTensorwise, kBlockwise, kMxfp8 };
[[nodiscard]] const char* to_string(Fp8Recipe recipe);  // "delayed", "tensorwise", "blockwise", "mxfp8"

// What a layer would cost if its software were better: bounds for a study of costs, which no flag asks for.
struct CostChange {
  bool fused_passes = false;      // passes over memory run inside the kernels before them (fuse_passes)
  bool free_collectives = false;  // collectives inside layers take no time
  bool sparse_weights = false;    // structured 2:4 sparsity of all weights: products with them at twice the rate

  friend bool operator==(const CostChange&, const CostChange&) = default;
};

// What selective recomputation makes again, by Megatron-Core's names (TransformerConfig.recompute_modules). core_attn,
// mlp, moe and shared_experts run again from their inputs; of moe_act, layernorm and mla_up_proj the outputs are given
// up and made again.
struct RecomputeModules {
  bool core_attn = true;        // scores, softmax, dropout, weighted values
  bool mlp = false;             // of dense blocks, with the norm before it
  bool moe = false;             // router, exchanges, routed and shared experts
  bool moe_act = false;         // the activation function of routed experts
  bool layernorm = false;       // norms that are modules of their own: before latent attention and before experts
  bool mla_up_proj = false;     // what latent attention projects up, with norms before and rotation behind it
  bool shared_experts = false;  // of blocks with experts
  // Of whole blocks, instead of these: everything but what costly ops make (torchtitan's selective policies).
  enum class Outputs : std::uint8_t {
    kNone,
    kOp,     // kept: attention, exchanges and sums over ranks, and of every two products with weights the first
    kBudget  // kept: products and attention within `budget` of their bytes, so that fewest FLOPs run again
  };
  Outputs outputs = Outputs::kNone;
  double budget = 1;
};

// Transformer Engine's user buffers, which Megatron-LM's --tp-comm-overlap asks for: the products of attention and of
// dense MLPs run in parts, and what they exchange over the tensor ranks travels beside these.
struct UserBuffers {
  bool gathers = false;  // tp_comm_overlap_ag: one part for each rank's share, while the next share arrives
  bool sums = false;     // tp_comm_overlap_rs: each part's output is summed while the next part is computed

  friend bool operator==(const UserBuffers&, const UserBuffers&) = default;
};

struct TrainingSetup {
  TransformerShape shape;
  Parallelism parallel;
  std::int64_t sequence = 0;                         // tokens of a sample
  std::int64_t microbatch_size = 1;                  // samples
  NumberFormat compute = NumberFormat::kBf16;        // of matmuls
  NumberFormat weights = NumberFormat::kBf16;        // as stored for compute
  NumberFormat gradients = NumberFormat::kFp32;      // as accumulated
  bool master_weights = true;                        // the optimizer updates a copy of the weights
  NumberFormat master_format = NumberFormat::kFp32;  // of that copy
  int moments = 2;                                   // numbers per weight the optimizer keeps (Adam: 2)
  NumberFormat moment_format = NumberFormat::kFp32;  // of the first
  NumberFormat second_format = NumberFormat::kFp32;  // of the second
  // Muon: the matrices of blocks have one moment of the first format, all else two of the second.
  bool matrix_momentum = false;
  // 16-bit gradients stay beside the sums that they are added to (DeepSpeed's BF16_Optimizer); else each goes once it
  // is added.
  bool keeps_low_gradients = false;
  // What ZeRO-2 and 3 shard stays whole from its first use to the step's end (fully_shard without resharding).
  bool whole_during_step = false;
  // Matmuls in 8 bits: the weights are there in 8 bits, as they are and transposed, alone (Megatron-Core's
  // fp8_param_gather), or beside the 16-bit ones, made once a step (Transformer Engine's cached workspaces).
  bool eight_bit_weights_alone = false;
  bool flash_attention = true;  // scores are never stored; the backward computes them again
  bool dropout = false;         // masks of one byte per number
  bool causal = true;
  Recompute recompute = Recompute::kNone;
  RecomputeModules modules;    // with Recompute::kSelective
  bool tensor_overlap = true;  // collectives of input gradients overlap the weight gradients' matmuls
  UserBuffers user_buffers;    // with sequence parallelism over several tensor ranks
  // Context ranks exchange heads for tokens (Ulysses), instead of sending keys and values around (ring attention).
  bool context_all_to_all = false;
  // Matmuls of weight gradients add to what earlier microbatches left; else a pass of its own does, which reads the
  // 16-bit gradient and the sum and writes the sum.
  bool fused_accumulation = true;
  Fp8Recipe fp8_recipe = Fp8Recipe::kDelayed;     // with `compute` in 8 bits
  bool fused_loss = false;                        // cross entropy in few kernels, without 32-bit copies between them
  double expert_imbalance = 1;                    // tokens of the busiest rank's experts over the mean
  MoeDispatch dispatch = MoeDispatch::kAllToAll;  // how tokens reach their experts' ranks
  // Tokens travel while the other pass of another microbatch computes (Megatron-Core's
  // overlap_moe_expert_parallel_comm, which asks for several stages per device).
  bool exchange_overlap = false;
  double capacity_factor = 0;  // every expert works on so many times the mean of its tokens; 0: on what it gets
  CostChange change;
  ModelEffects effects;
};

// Bytes of a weight as products read it; those in 8 bits count apart (eight_bit_weights).
[[nodiscard]] inline int product_weight_bytes(const TrainingSetup& setup) {
  return bytes_of(setup.compute == NumberFormat::kFp8 ? NumberFormat::kBf16 : setup.compute);
}

// Whether every forward casts the stored weights for its products and keeps the result for its backward, as
// torch.autocast does. ZeRO-3 casts the part that a rank stores.
[[nodiscard]] inline bool casts_weights(const TrainingSetup& setup) {
  return bytes_of(setup.weights) > product_weight_bytes(setup) && setup.parallel.zero < 3;
}

// Bytes of a number in the copy that the optimizer updates; 0: it updates the weights themselves.
[[nodiscard]] inline int master_bytes(const TrainingSetup& setup) {
  return setup.master_weights ? bytes_of(setup.master_format) : 0;
}

// Whether selective recomputation makes that module again.
[[nodiscard]] inline bool makes_again(const TrainingSetup& setup, bool RecomputeModules::*module) {
  return setup.recompute == Recompute::kSelective && setup.modules.*module;
}

[[nodiscard]] inline bool keeps_outputs(const TrainingSetup& setup) {
  return setup.recompute == Recompute::kSelective && setup.modules.outputs != RecomputeModules::Outputs::kNone;
}

// One of a model's layers, as a partition sees them: the embedding, the blocks, the head (and extra prediction heads).
struct LayerPlace {
  enum class Kind : std::uint8_t { kEmbedding, kBlock, kHead, kPredictor };
  Kind kind = Kind::kBlock;
  std::int64_t number = 0;   // of a block: counts all blocks from 0
  bool moe = false;          // a block with experts
  std::int64_t variant = 0;  // block_variant: how it differs from the model's sizes
};

// The setup as one layer has it: with the sizes of its own block. Of what is one already it changes nothing.
class LayerSetup {
 public:
  // Keeps a reference to the setup.
  LayerSetup(const TrainingSetup& setup, const LayerPlace& layer) : setup_(setup) {
    const TransformerShape& shape = setup.shape;
    const bool differs = layer.variant == 0 ? shape.window > 0 || !shape.block_kinds.empty()
                                            : layer.variant > 1 && !shape.kind_of_block.empty();
    if (!differs) return;
    own_ = setup;
    own_->shape = block_shape(shape, layer.variant);
  }
  [[nodiscard]] const TrainingSetup& operator*() const { return own_ ? *own_ : setup_; }

 private:
  const TrainingSetup& setup_;
  std::optional<TrainingSetup> own_;
};

}  // namespace debubble
