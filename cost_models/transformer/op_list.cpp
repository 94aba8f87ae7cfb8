#include "cost_models/transformer/op_list.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace debubble {

using Phase = LayerOp::Phase;

namespace {

// Between matmuls numbers are never narrower than 16 bits.
Bytes element_size(NumberFormat compute) { return std::max(2, bytes_of(compute)); }

}  // namespace

RankSizes::RankSizes(const TrainingSetup& setup)
    : tensor(setup.parallel.tensor),
      sequence(share_of(setup.sequence, setup.parallel.context)),
      tokens(sequence * setup.microbatch_size),
      row_share(setup.parallel.sequence ? share_of(tokens, tensor) : tokens),
      element(element_size(setup.compute)) {}

TokenExchange token_exchange_of(const TrainingSetup& setup) {
  const TransformerShape& shape = setup.shape;
  return {setup.dispatch, shape.experts_per_token, shape.experts, shape.expert_groups, shape.groups_per_token};
}

LayerOp elementwise_op(const std::string& name, Phase phase, Bytes bytes, int kernels) {
  LayerOp op;
  op.kind = LayerOp::Kind::kElementwise;
  op.phase = phase;
  op.name = name;
  op.bytes = bytes;
  op.kernels = kernels;
  return op;
}

void OpList::begin_part() { parts_.emplace_back(); }

void OpList::forward(LayerOp op) { parts_.back().forward.push_back(std::move(op)); }

void OpList::backward(LayerOp op) { parts_.back().backward.push_back(std::move(op)); }

NumberFormat OpList::format_of(const Linear& linear) const {
  const bool wide = linear.wide && setup_.compute == NumberFormat::kFp8 && setup_.effects.wide_logits;
  return wide ? NumberFormat::kBf16 : setup_.compute;
}

std::int64_t OpList::further_launches(const Linear& linear) const {
  return setup_.effects.expert_launches ? linear.batch - 1 : 0;
}

LayerOp OpList::matmul_op(const Linear& linear, Phase phase) const {
  LayerOp op;
  op.phase = phase;
  op.name = linear.name;
  op.batch = linear.batch;
  op.m = linear.m;
  op.n = linear.n;
  op.k = linear.k;
  if (phase == Phase::kInputGrad) std::swap(op.n, op.k);
  if (phase == Phase::kWeightGrad) {
    op.m = linear.n;
    op.n = linear.k;
    op.k = linear.m;
  }
  op.imbalance = linear.imbalance;
  op.experts = linear.batch > 1;
  op.further_launches = further_launches(linear);
  op.recipe = setup_.fp8_recipe;
  op.format = format_of(linear);
  // A weight gradient is dense, and so are both of its factors.
  op.sparse = setup_.change.sparse_weights && phase != Phase::kWeightGrad;
  op.flops = 2.0 * static_cast<double>(op.batch) * static_cast<double>(op.m) * static_cast<double>(op.n) *
             static_cast<double>(op.k);
  const bool adds = phase == Phase::kWeightGrad && setup_.fused_accumulation;
  const Bytes result = adds ? Bytes{2} * bytes_of(setup_.gradients) : sizes_.element;
  const Bytes operand = bytes_of(op.format);
  op.bytes = op.batch * (operand * (op.m + op.n) * op.k + result * op.m * op.n);
  return op;
}

// A product in parts of its rows reads its other factor for each.
void OpList::cut(LayerOp& product, int parts) {
  product.parts = parts;
  product.kernels = parts;
  product.bytes += (parts - 1) * Bytes{bytes_of(product.format)} * product.n * product.k;
}

// Shares go around a ring of the tensor ranks (method "ring_exchange"): each computes with its own share first.
int OpList::gathered_parts(const Linear& linear) const {
  return linear.user_buffers && setup_.user_buffers.gathers ? setup_.parallel.tensor : 1;
}

// Method "pipeline", whose num_splits are 4 whatever the ranks.
int OpList::summed_parts(const Linear& linear) const {
  constexpr int kSplits = 4;
  return linear.user_buffers && setup_.user_buffers.sums ? kSplits : 1;
}

LayerOp OpList::tensor_collective(const std::string& name, CollectiveKind kind, Bytes bytes, Phase phase) const {
  LayerOp op;
  op.kind = LayerOp::Kind::kCollective;
  op.phase = phase;
  op.name = std::string(to_string(kind)) + " of " + name;
  op.collective = kind;
  op.collective_bytes = bytes;
  return op;
}

// 8-bit matmuls need both operands in 8 bits, once as they are and once transposed for the backward. A scale of the
// tensor as it is now takes a pass over it before that.
void OpList::cast(const Linear& linear) {
  if (format_of(linear) != NumberFormat::kFp8) return;
  const bool look_first = setup_.fp8_recipe == Fp8Recipe::kTensorwise;
  const Bytes per_number = sizes_.element + 2 + (look_first ? sizes_.element : 0);
  const std::int64_t rows = linear.batch * linear.m;
  const auto made = [&](Phase phase, std::int64_t columns) {
    LayerOp op = elementwise_op(linear.name + ": cast to fp8", phase, rows * columns * per_number, look_first ? 2 : 1);
    op.quantises = true;
    // Transformer Engine casts all experts' rows in one kernel with scales that are known before, else one by one.
    if (setup_.fp8_recipe != Fp8Recipe::kDelayed) op.further_launches = further_launches(linear);
    op.recipe = setup_.fp8_recipe;
    op.pass_flops = 2.0 * static_cast<double>(rows) * static_cast<double>(columns);  // scaling, the largest number
    // Behind a pass: it reads what that one has in hand. Forward, nothing else needs that in 16 bits; but a scale of
    // the tensor as it is now waits for all of it.
    op.joins = look_first ? LayerOp::Joins::kNothing : LayerOp::Joins::kPass;
    op.fusable = rows * columns * sizes_.element * (phase == Phase::kForward ? 2 : 1);
    return op;
  };
  forward(made(Phase::kForward, linear.k));
  backward(made(Phase::kInputGrad, linear.n));
}

// A bias's gradient is the sum of the output's over all tokens. Layers of PyTorch and of Megatron-LM without
// Transformer Engine read that once more for it (grad_output.sum(dim=0)); Transformer Engine's products have the sum in
// passing. Scores in memory tell the former.
void OpList::sum_biases(const Linear& linear, std::int64_t rows) {
  if (!linear.bias || setup_.flash_attention || !setup_.effects.bias_sums) return;
  const std::int64_t numbers = linear.batch * rows * linear.n;
  LayerOp op = elementwise_op(linear.name + ": sum of its bias", Phase::kWeightGrad, numbers * sizes_.element);
  op.pass_flops = static_cast<double>(numbers);
  op.joins = LayerOp::Joins::kProductOrPass;
  op.fusable = op.bytes;
  backward(std::move(op));
}

void OpList::linear(const Linear& linear, TensorSide side) {
  const bool split = sizes_.tensor > 1 && side != TensorSide::kNone;
  const bool sequence = setup_.parallel.sequence;
  const CollectiveKind sum = sequence ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce;
  const Bytes in = linear.m * linear.k * sizes_.element;
  const Bytes out = linear.m * linear.n * sizes_.element;
  const bool column = split && side == TensorSide::kColumn;
  const bool row = split && side == TensorSide::kRow;

  cast(linear);
  const std::int64_t weights = linear.batch * linear.k * linear.n;
  const Bytes cast_bytes = weights * (sizes_.element + bytes_of(setup_.weights));
  if (casts_weights(setup_)) forward(elementwise_op(linear.name + ": weights cast", Phase::kForward, cast_bytes));
  LayerOp product = matmul_op(linear, Phase::kForward);
  LayerOp input_gradient = matmul_op(linear, Phase::kInputGrad);
  if (column && sequence) {
    LayerOp gather = tensor_collective("the input of " + linear.name, CollectiveKind::kAllGather, in, Phase::kForward);
    gather.parts = gathered_parts(linear);
    cut(product, gather.parts);
    forward(std::move(gather));
    LayerOp again =
        tensor_collective("the input of " + linear.name, CollectiveKind::kAllGather, in, Phase::kWeightGrad);
    again.beside_next = setup_.tensor_overlap;
    backward(again);
  }
  if (row && sequence) cut(product, summed_parts(linear));
  std::vector<std::int64_t> columns = linear.joins;
  if (columns.empty() && !linear.never_kept) columns.push_back(linear.n);
  products_.push_back({parts_.size() - 1, parts_.back().forward.size(), std::move(columns)});
  forward(std::move(product));
  if (row) {
    LayerOp summed = tensor_collective("the output of " + linear.name, sum, out, Phase::kForward);
    if (sequence) summed.parts = summed_parts(linear);
    forward(std::move(summed));
  }
  if (row && sequence) {
    LayerOp gather =
        tensor_collective("the gradient of " + linear.name, CollectiveKind::kAllGather, out, Phase::kInputGrad);
    gather.parts = gathered_parts(linear);
    cut(input_gradient, gather.parts);
    backward(std::move(gather));
  }
  backward(std::move(input_gradient));
  if (column) {
    LayerOp gradient = tensor_collective("the input gradient of " + linear.name, sum, in, Phase::kInputGrad);
    gradient.beside_next = setup_.tensor_overlap;
    backward(gradient);
  }
  backward(matmul_op(linear, Phase::kWeightGrad));
  sum_biases(linear, row && sequence ? share_of(linear.m, sizes_.tensor) : linear.m);
  if (casts_weights(setup_)) {
    backward(elementwise_op(linear.name + ": gradient cast", Phase::kWeightGrad, cast_bytes));
  }
  if (setup_.fused_accumulation) return;
  const Bytes per_weight = sizes_.element + Bytes{2} * bytes_of(setup_.gradients);
  LayerOp sum_op = elementwise_op("sum of gradients of " + linear.name, Phase::kWeightGrad, weights * per_weight);
  sum_op.pass_flops = static_cast<double>(weights);
  backward(std::move(sum_op));
}

void OpList::elementwise(const std::string& name, Bytes forward_bytes, Bytes backward_bytes, int kernels,
                         int backward_kernels, const PassWork& work) {
  if (forward_bytes > 0) {
    LayerOp op = elementwise_op(name, Phase::kForward, forward_bytes, kernels);
    op.pass_flops = work.forward;
    op.normalises = work.normalises;
    op.joins = work.forward_joins;
    op.fusable = work.forward_fusable;
    forward(std::move(op));
  }
  if (backward_bytes == 0) return;
  LayerOp op = elementwise_op(name, Phase::kInputGrad, backward_bytes, backward_kernels);
  op.pass_flops = work.backward;
  op.normalises = work.normalises;
  op.joins = work.backward_joins;
  op.fusable = work.backward_fusable;
  backward(std::move(op));
}

void OpList::matmul(const std::string& name, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  LayerOp op;
  op.name = name;
  op.format = sizes_.element == 4 ? NumberFormat::kFp32 : NumberFormat::kBf16;
  const auto add = [&](Phase phase, std::int64_t rows, std::int64_t columns, std::int64_t inner) {
    op.phase = phase;
    op.batch = batch;
    op.m = rows;
    op.n = columns;
    op.k = inner;
    op.flops = 2.0 * static_cast<double>(batch * rows) * static_cast<double>(columns) * static_cast<double>(inner);
    op.bytes = batch * (rows * inner + columns * inner + rows * columns) * sizes_.element;
    if (phase == Phase::kForward) {
      forward(op);
    } else {
      backward(op);
    }
  };
  add(Phase::kForward, m, n, k);
  add(Phase::kInputGrad, m, k, n);
  add(Phase::kInputGrad, n, k, m);
}

void OpList::collective(const std::string& name, Dimension group, CollectiveKind forward_kind,
                        CollectiveKind backward_kind, Bytes bytes, double imbalance) {
  LayerOp op = tensor_collective(name, forward_kind, bytes, Phase::kForward);
  op.group = group;
  op.imbalance = imbalance;
  forward(op);
  op = tensor_collective(name + "'s gradient", backward_kind, bytes, Phase::kInputGrad);
  op.group = group;
  op.imbalance = imbalance;
  backward(op);
}

void OpList::token_exchange(const std::string& name, Bytes bytes, double imbalance) {
  LayerOp op = tensor_collective(name, CollectiveKind::kAllToAll, bytes, Phase::kForward);
  op.group = Dimension::kExpert;
  op.imbalance = imbalance;
  op.exchange = token_exchange_of(setup_);
  op.beside_other_pass = setup_.exchange_overlap;
  forward(op);
  op.name += "'s gradient";
  op.phase = Phase::kInputGrad;
  backward(op);
}

void OpList::host_waits_before(std::size_t part) {
  if (setup_.effects.counted_tokens) parts_.at(part).forward.front().host_waits = true;
}

void OpList::recompute_from(std::size_t first_part) { again_.emplace_back(first_part, parts_.size()); }

std::vector<LayerOp> OpList::finish(bool recompute_all) {
  std::vector<LayerOp> ops;
  for (const Part& part : parts_) ops.insert(ops.end(), part.forward.begin(), part.forward.end());
  const auto repeat = [&](std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k) {
      for (LayerOp op : parts_[k].forward) {
        op.phase = Phase::kInputGrad;
        op.recompute = true;
        ops.push_back(std::move(op));
      }
    }
  };
  if (recompute_all) repeat(0, parts_.size());
  ops.insert(ops.end(), unkept_.begin(), unkept_.end());
  for (std::size_t k = parts_.size(); k > 0; --k) {
    for (const auto& [first, end] : again_) {
      if (end == k && !recompute_all) repeat(first, end);
    }
    ops.insert(ops.end(), parts_[k - 1].backward.begin(), parts_[k - 1].backward.end());
  }
  return ops;
}

}  // namespace debubble
