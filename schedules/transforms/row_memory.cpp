#include "schedules/transforms/row_memory.hpp"

#include <algorithm>

namespace debubble {

RowMemory::RowMemory(const std::vector<Op>& row, const StageCosts& costs, const PieceShares& pieces)
    : costs_(&costs), pieces_(&pieces) {
  for (const Op& op : row) {
    if (op.kind == OpKind::kRecompute) recomputed_.emplace(op.stage, op.microbatch);
  }
  Bytes level = 0;
  for (std::size_t at = 0; at < row.size(); ++at) {
    before_.push_back(level);
    // Both members of a pair begin together.
    begin_.push_back(taken(row[at]) + (row[at].paired_with_next ? taken(row[at + 1]) : 0));
    level += taken(row[at]) - freed(row[at]);
  }
}

Bytes RowMemory::peak() const {
  Bytes most = 0;
  for (std::size_t at = 0; at < before_.size(); ++at) most = std::max(most, during(at));
  return most;
}

// Of S and T: what a shard of the output layer holds between them. They belong to no stage.
Bytes RowMemory::shard(const Op& op) const { return costs_->vocabulary ? part(costs_->vocabulary->held, op) : 0; }

Bytes RowMemory::taken(const Op& op) const {
  if (is_vocabulary(op.kind)) return op.kind == OpKind::kVocabularyLogits ? shard(op) : 0;
  if (op.kind == OpKind::kForward) return part(is_recomputed(op) ? cost(op).checkpoint : cost(op).activation, op);
  return op.kind == OpKind::kRecompute ? part(cost(op).activation, op) : 0;
}

Bytes RowMemory::freed(const Op& op) const {
  if (is_vocabulary(op.kind)) return op.kind == OpKind::kVocabularyGradient ? shard(op) : 0;
  const Bytes held = part(cost(op).weight_grad_held, op);
  if (op.kind == OpKind::kWeightGrad) return held;
  if (!makes_input_gradient(op.kind)) return 0;
  const Bytes whole = part(cost(op).activation, op) + (is_recomputed(op) ? part(cost(op).checkpoint, op) : 0);
  return op.kind == OpKind::kBackward ? whole : whole - held;
}

void RowMemory::move(std::size_t from, std::size_t to, const Op& forward) {
  const Bytes more = taken(forward);
  const Bytes before = before_[to];
  for (std::size_t at = to; at < from; ++at) before_[at] += more;
  const auto rotate = [from, to](std::vector<Bytes>& values) {
    const auto begin = values.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(to), begin + static_cast<std::ptrdiff_t>(from),
                begin + static_cast<std::ptrdiff_t>(from) + 1);
  };
  rotate(before_);
  rotate(begin_);
  before_[to] = before;
}

}  // namespace debubble
