// The kernels and collectives of one layer on one rank, for one microbatch: what a cost model times one by one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cost_models/collectives/collective.hpp"
#include "cost_models/transformer/setup.hpp"
#include "sim/core/rank_layout.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct LayerOp {
  enum class Kind : std::uint8_t {
    kMatmul,       // `batch` matmuls of m x k by k x n
    kAttention,    // fused (flash) attention: `flops` on matrix units, scores never leave the chip
    kElementwise,  // norms, activations, residuals, softmax, dropout, rotary positions, lookups: memory bound
    kCollective,   // inside the layer, over the ranks of `group`
  };
  // What of B it belongs to, where a schedule splits B; a full backward runs both. Recomputation belongs to kInputGrad.
  enum class Phase : std::uint8_t { kForward, kInputGrad, kWeightGrad };
  // kElementwise: the kernels that it could be a part of. Row statistics (norms, softmax) fit into no product.
  enum class Joins : std::uint8_t { kNothing, kPass, kProductOrPass };

  Kind kind = Kind::kMatmul;
  Phase phase = Phase::kForward;
  std::string name;                             // "qkv", "attention", "mlp up", "all-reduce of the MLP's output"
  bool recompute = false;                       // runs the forward again
  std::int64_t batch = 1, m = 0, n = 0, k = 0;  // kMatmul; kAttention: the scores, queries x keys x head size
  std::int64_t value = 0;                       // kAttention: size of a head's value; 0: as the key's
  bool causal = false;                          // kAttention
  bool experts = false;                         // kMatmul: one of the batch for each expert
  Fp8Recipe recipe = Fp8Recipe::kDelayed;       // kMatmul in 8 bits, and kElementwise that makes its factors:
  bool quantises = false;                       // a table of products with quantisation has this one in it
  double flops = 0;                             // multiply and add count as two
  double pass_flops = 0;                        // kElementwise: of the ordinary units, which `flops` leaves out
  bool normalises = false;                      // kElementwise: of whole rows: norms, softmax, the loss
  Joins joins = Joins::kNothing;                // kElementwise: what of the op before it could hold it,
  Bytes fusable = 0;                            // and what of `bytes` and of that op's writes would not move then
  bool sparse = false;                          // kMatmul: one factor is weights of structured sparsity
  Bytes bytes = 0;                              // read and written, of the device's memory
  NumberFormat format = NumberFormat::kBf16;
  int kernels = 1;                       // how many launches it represents
  std::int64_t further_launches = 0;     // of the host, in the same call: one for each expert after the first
  Dimension group = Dimension::kTensor;  // kCollective
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Bytes collective_bytes = 0;  // every rank's full buffer, as in plan_collective
  // kMatmul: of its rows, each a kernel that reads the other factor anew; `bytes` has that in. kCollective: with those
  // of the product next to it: a gather's steps run beside the next op's parts, a sum follows those of the op before.
  int parts = 1;
  TokenExchange exchange;  // kAllToAll: of tokens, who carries them
  double imbalance = 1;    // of experts: the busiest rank's tokens over the mean; `m` counts it already
  // kCollective: runs while the next op computes. Where B is split it does so only if both belong to one half.
  bool beside_next = false;
  bool host_waits = false;         // before its launch the host waits for the GPU, which counts what is to come
  bool beside_other_pass = false;  // kCollective: runs while the backward, or forward, of another microbatch computes
};

// In running order, forward first. One rank's share: tensor, context, expert and sequence parallelism are applied.
[[nodiscard]] std::vector<LayerOp> layer_ops(const TrainingSetup& setup, const LayerPlace& layer);

// Every pass that can run inside the kernel before it in its phase does: it has no launch of its own, and neither
// writes nor reads what it takes from there (CostChange::fused_passes). Where a collective lies between, none can.
void fuse_passes(std::vector<LayerOp>& ops);

// The model's layers in order: embedding, blocks, head, predictors, or the head last
// (TransformerShape::predictor_place).
[[nodiscard]] std::vector<LayerPlace> layer_places(const TransformerShape& shape);

// How often that layer runs an output layer: predictors apart from the head leave theirs to it.
[[nodiscard]] inline std::int64_t output_layers(const TransformerShape& shape, const LayerPlace& layer) {
  const bool apart = shape.predictor_place == PredictorPlace::kApart;
  if (layer.kind == LayerPlace::Kind::kHead) return 1 + (apart ? shape.predicted_tokens : 0);
  return layer.kind == LayerPlace::Kind::kPredictor && !apart ? 1 : 0;
}

// Forward and backward FLOPs of one sample's tokens in that layer over all ranks, without recomputation: what MFU
// counts.
[[nodiscard]] double model_flops(const TrainingSetup& setup, const LayerPlace& layer);

}  // namespace debubble
