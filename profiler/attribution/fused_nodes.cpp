#include "profiler/attribution/fused_nodes.hpp"

#include <algorithm>
#include <tuple>

namespace debubble::attribution {

std::optional<Phase> phase_by_order(Finer node, std::size_t index, std::size_t products) {
  const auto gradient = [](bool input) { return input ? Phase::kInputGrad : Phase::kWeightGrad; };
  if (node == Finer::kLinearProducts && products == 2) return gradient(index == 0);
  if (node == Finer::kMlpProducts && products == 4) return gradient(index % 2 == 0);
  if (node == Finer::kGroupedProducts && products >= 2 && products % 2 == 0) return gradient(index < products / 2);
  return std::nullopt;
}

FusedNodes::FusedNodes(Ledger& ledger, std::size_t most_nodes) : ledger_(ledger), most_nodes_(most_nodes) {}

void FusedNodes::add(std::uint32_t correlation, const Slot& slot, const Work& work) {
  if (nodes_.empty()) nodes_.resize(most_nodes_);
  Node& node = nodes_[slot.node & (most_nodes_ - 1)];
  if (node.number != slot.node) {
    settle(node);
    node.number = slot.node;
  }
  if (node.pieces.size() < kMostKernels) {
    node.pieces.push_back({correlation, slot, work});
  } else {
    ledger_.lose("kernels of fused nodes that have too many");
    ledger_.enter(slot, work);
  }
}

bool FusedNodes::tell_apart(std::vector<Piece>& pieces) const {
  const auto is_product = [&](const Piece& piece) { return ledger_.is_product(piece.work.kernel); };
  const auto products = static_cast<std::size_t>(std::count_if(pieces.begin(), pieces.end(), is_product));
  std::vector<Slot> slots;
  std::size_t index = 0;
  Phase newest = Phase::kInputGrad;  // of the newest product
  for (const Piece& piece : pieces) {
    Slot slot = piece.slot;
    const bool known = slot.rule == Rule::kShape;
    if (is_product(piece)) {
      const std::optional<Phase> phase = phase_by_order(slot.finer, index++, products);
      if (!phase || (known && slot.phase != *phase)) return false;
      newest = *phase;
    }
    if (!known) {
      const bool follows = is_product(piece) || ledger_.is_part_of_product(piece.work.kernel);
      slot.phase = follows ? newest : Phase::kInputGrad;
      slot.rule = Rule::kOrder;
    }
    slots.push_back(slot);
  }
  if (products == 0) return false;
  for (std::size_t k = 0; k < pieces.size(); ++k) pieces[k].slot = slots[k];
  return true;
}

void FusedNodes::settle(Node& node) {
  if (node.pieces.empty()) return;
  // Kernels of one launch, as of a CUDA graph, have one correlation.
  std::sort(node.pieces.begin(), node.pieces.end(), [](const Piece& left, const Piece& right) {
    return std::tie(left.correlation, left.work.begin) < std::tie(right.correlation, right.work.begin);
  });
  if (!tell_apart(node.pieces)) ++whole_;
  for (const Piece& piece : node.pieces) ledger_.enter(piece.slot, piece.work);
  node = {};
}

void FusedNodes::flush() {
  for (Node& node : nodes_) settle(node);
}

}  // namespace debubble::attribution
