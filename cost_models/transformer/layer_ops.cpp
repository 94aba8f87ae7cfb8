#include "cost_models/transformer/layer_ops.hpp"

#include <array>
#include <optional>
#include <utility>

#include "cost_models/transformer/block_ops.hpp"
#include "cost_models/transformer/layer_memory.hpp"

namespace debubble {

using Phase = LayerOp::Phase;

void add_norm(const TrainingSetup& setup, OpList& list, const char* name) {
  list.begin_part();
  const std::int64_t numbers = list.sizes().row_share * setup.shape.hidden;
  const Bytes plane = numbers * list.sizes().element;
  list.elementwise(name, 2 * plane, 3 * plane, 1, 2, norm_work(setup, numbers, plane));
}

// Layer norm: mean, difference, its square, the sum of these, times the deviation, times weight, plus bias; backward
// the same difference and factor again, two sums and two products of the input's gradient, and the parameters'. RMS
// norm has neither mean nor bias. It stays behind a pass that has its rows in hand; they are kept for the way around.
PassWork norm_work(const TrainingSetup& setup, std::int64_t numbers, Bytes plane) {
  const bool layer_norm = setup.shape.norm == NormKind::kLayerNorm;
  const auto count = static_cast<double>(numbers);
  PassWork work;
  work.forward = (layer_norm ? 7 : 4) * count;
  work.backward = (layer_norm ? 13 : 9) * count;
  work.normalises = true;
  work.forward_joins = LayerOp::Joins::kPass;
  work.forward_fusable = plane;
  return work;
}

void add_residual(const TrainingSetup& setup, OpList& list) {
  list.begin_part();
  const std::int64_t numbers = list.sizes().row_share * setup.shape.hidden;
  const Bytes plane = numbers * list.sizes().element;
  // Backward, the gradients of both branches add up; dropout moves its mask of one byte in each pass.
  const Bytes mask = setup.dropout ? numbers : 0;
  PassWork work;
  work.forward = work.backward = static_cast<double>(numbers) * (setup.dropout ? 2 : 1);
  // Inside the kernel before, the branch's output (backward: the norm's gradient) is neither written nor read.
  work.forward_joins = work.backward_joins = LayerOp::Joins::kProductOrPass;
  work.forward_fusable = work.backward_fusable = 2 * plane;
  list.elementwise("residual", 3 * plane + mask, 3 * plane + (setup.dropout ? 2 * plane + mask : 0), 1,
                   setup.dropout ? 2 : 1, work);
}

namespace {

// Each number of the logits is read and written so often, in bytes. In many kernels: to 32 bits, maximum, subtraction,
// exponential, sum, division; backward the label's subtraction and the cast back to 16 bits. Fused: to 32 bits,
// maximum, one pass for the loss, one for the gradient.
struct LossBytes {
  Bytes forward, backward;
  int forward_kernels, backward_kernels;
};
constexpr LossBytes kUnfusedLoss{38, 14, 9, 4};
constexpr LossBytes kFusedLoss{22, 14, 4, 2};

void add_loss(const TrainingSetup& setup, OpList& list) {
  const RankSizes& sizes = list.sizes();
  const std::int64_t logits = sizes.tokens * (padded_vocabulary(setup) / sizes.tensor);
  const LossBytes& loss = setup.fused_loss ? kFusedLoss : kUnfusedLoss;
  list.begin_part();
  PassWork work;  // maximum, difference, exponential, sum, quotient; backward the label's difference and a factor
  work.forward = 5 * static_cast<double>(logits);
  work.backward = 2 * static_cast<double>(logits);
  work.normalises = true;
  list.elementwise("loss", logits * loss.forward, logits * loss.backward, loss.forward_kernels, loss.backward_kernels,
                   work);
  if (sizes.tensor == 1) return;
  // Maximum, label's logit and sum of exponentials of every token.
  LayerOp op;
  op.kind = LayerOp::Kind::kCollective;
  op.name = "all-reduce of the loss";
  op.collective_bytes = sizes.tokens * 4;
  for (int k = 0; k < 3; ++k) list.forward(op);
}

void add_embedding(const TrainingSetup& setup, OpList& list) {
  const TransformerShape& shape = setup.shape;
  const RankSizes& sizes = list.sizes();
  const Bytes all = sizes.tokens * shape.hidden * sizes.element;
  list.begin_part();
  list.forward(elementwise_op("lookup", Phase::kForward, 2 * all));
  if (sizes.tensor > 1) {
    LayerOp op;
    op.kind = LayerOp::Kind::kCollective;
    op.collective = setup.parallel.sequence ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce;
    op.name = std::string(to_string(op.collective)) + " of the embedding";
    op.collective_bytes = all;
    list.forward(op);
    if (setup.parallel.sequence) {
      op.phase = Phase::kWeightGrad;
      op.collective = CollectiveKind::kAllGather;
      op.name = "all-gather of the embedding's gradient";
      list.backward(op);
    }
  }
  // A table of gradients is cleared, filled and added to the accumulated one.
  const Bytes table = padded_vocabulary(setup) / sizes.tensor * shape.hidden;
  const Bytes touched = table * (Bytes{2} * sizes.element + Bytes{2} * bytes_of(setup.gradients)) + 2 * all;
  LayerOp gradient = elementwise_op("gradient of the lookup", Phase::kWeightGrad, touched, 4);
  gradient.pass_flops = static_cast<double>(table) + static_cast<double>(all / sizes.element);
  list.backward(std::move(gradient));
  const Bytes plane = sizes.row_share * shape.hidden * sizes.element;
  if (shape.positions > 0) {
    list.begin_part();
    LayerOp op = elementwise_op("positions", Phase::kForward, 3 * plane);
    op.pass_flops = static_cast<double>(plane / sizes.element);
    op.joins = LayerOp::Joins::kPass;
    op.fusable = 2 * plane;
    list.forward(std::move(op));
    list.backward(elementwise_op("gradient of the positions", Phase::kWeightGrad, 2 * plane));
  }
  if (shape.embedding_norm) add_norm(setup, list, "norm of the embedding");
  if (setup.dropout) {
    list.begin_part();
    const Bytes mask = plane / sizes.element;
    LayerOp op = elementwise_op("embedding dropout", Phase::kForward, 2 * plane + mask);
    op.pass_flops = static_cast<double>(mask);
    op.joins = LayerOp::Joins::kPass;
    op.fusable = 2 * plane;
    list.forward(std::move(op));
    list.backward(elementwise_op("embedding dropout", Phase::kWeightGrad, 2 * plane + mask));
  }
}

void add_block_ops(const TrainingSetup& setup, bool moe, OpList& list) {
  if (has_attention(setup.shape)) add_attention(setup, list);
  if (!has_mlp(setup.shape)) return;
  if (moe) {
    add_experts(setup, list);
  } else {
    add_dense_mlp(setup, list);
  }
}

// DeepSeek-V3's multi-token prediction: the last block's output and the next token's embedding, each normed, are
// projected from twice the width and go through one more block and the shared output layer.
void add_predictor(const TrainingSetup& setup, bool moe, OpList& list) {
  const RankSizes& sizes = list.sizes();
  const std::int64_t hidden = setup.shape.hidden;
  list.begin_part();
  const Bytes all = sizes.tokens * hidden * sizes.element;
  list.elementwise("lookup of the next token", 2 * all, 2 * all);
  add_norm(setup, list, "norm of the hidden state");
  add_norm(setup, list, "norm of the next token");
  list.begin_part();
  list.linear({"projection of both", sizes.tokens, 2 * hidden, share_of(hidden, sizes.tensor)}, TensorSide::kColumn);
  add_block_ops(setup, moe, list);
}

}  // namespace

void add_output_layer(const TrainingSetup& setup, OpList& list) {
  const RankSizes& sizes = list.sizes();
  add_norm(setup, list, "last norm");
  list.begin_part();
  // Megatron-LM's output layer is none of Transformer Engine's, so that its 8-bit recipes leave it alone.
  const std::int64_t words = padded_vocabulary(setup) / sizes.tensor;
  list.linear({"logits", sizes.tokens, setup.shape.hidden, words, 1, 1, true}, TensorSide::kColumn);
  add_loss(setup, list);
}

std::vector<LayerOp> layer_ops(const TrainingSetup& whole, const LayerPlace& layer) {
  const LayerSetup own(whole, layer);
  const TrainingSetup& setup = *own;
  OpList list(setup);
  switch (layer.kind) {
    case LayerPlace::Kind::kEmbedding:
      add_embedding(setup, list);
      break;
    case LayerPlace::Kind::kBlock:
      add_block_ops(setup, layer.moe, list);
      break;
    case LayerPlace::Kind::kHead:
      break;
    case LayerPlace::Kind::kPredictor:
      add_predictor(setup, layer.moe, list);
      break;
  }
  for (std::int64_t k = output_layers(setup.shape, layer); k > 0; --k) add_output_layer(setup, list);
  if (keeps_outputs(setup) && layer.kind == LayerPlace::Kind::kBlock) list.recompute_unkept();
  std::vector<LayerOp> ops = list.finish(setup.recompute == Recompute::kFull && layer.kind == LayerPlace::Kind::kBlock);
  if (setup.change.fused_passes) fuse_passes(ops);
  return ops;
}

OpList::Kept kept_outputs(const TrainingSetup& whole, const LayerPlace& layer) {
  const LayerSetup own(whole, layer);
  OpList list(*own);
  add_block_ops(*own, layer.moe, list);
  return list.kept();
}

void fuse_passes(std::vector<LayerOp>& ops) {
  using Kind = LayerOp::Kind;
  // By phase, and of what runs again apart: the op before.
  std::array<std::optional<Kind>, 4> before;
  for (LayerOp& op : ops) {
    std::optional<Kind>& last = before.at(op.recompute ? 3 : static_cast<std::size_t>(op.phase));
    const bool fits = op.joins == LayerOp::Joins::kProductOrPass ? last == Kind::kMatmul || last == Kind::kElementwise
                                                                 : last == Kind::kElementwise;
    if (op.joins != LayerOp::Joins::kNothing && fits) {
      op.bytes -= op.fusable;
      op.kernels = 0;
    }
    last = op.kind;
  }
}

std::vector<LayerPlace> layer_places(const TransformerShape& shape) {
  std::vector<LayerPlace> places{{LayerPlace::Kind::kEmbedding, 0, false}};
  for (std::int64_t block = 0; block < shape.layers; ++block) {
    places.push_back({LayerPlace::Kind::kBlock, block, has_experts(shape, block), block_variant(shape, block)});
  }
  const bool head_first = shape.predictor_place == PredictorPlace::kBehindHead;
  const LayerPlace head{LayerPlace::Kind::kHead, 0, false};
  if (head_first) places.push_back(head);
  for (std::int64_t k = 0; k < shape.predicted_tokens; ++k) {
    places.push_back({LayerPlace::Kind::kPredictor, k, shape.experts > 0});
  }
  if (!head_first) places.push_back(head);
  return places;
}

}  // namespace debubble
