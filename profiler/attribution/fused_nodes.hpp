// FusedNodes: the two gradients of backward nodes that run their products without operators, told apart by the order
// of the products.
//
//     _LayerNormLinearBackward   [ cast ]  gemm    gemm   [ GammaBeta ]
//                                  I        I        W        W
//
// TransformerEngine's linear functions and Megatron Core's linear with fused gradient accumulation compute the input
// gradient first, since the layer before waits for it, and the weight gradient second; TransformerEngine's MLP does so
// for its second matrix, then for its first; its grouped linear runs one product per expert for the input gradients,
// then one per expert for the weight gradients. What was told apart by shape stays as it is, and must agree with the
// order. A node with another number of products (chunks of an overlapped all-gather, a weight or an input without
// gradient) stays whole, and is counted.
//
// A node's kernels wait here until it leaves the window, since they may arrive in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/attribution/ledger.hpp"
#include "profiler/attribution/slot.hpp"

namespace debubble::attribution {

// Which gradient product `index` of `products` computes; nothing where the order does not say.
[[nodiscard]] std::optional<Phase> phase_by_order(Finer node, std::size_t index, std::size_t products);

class FusedNodes {
 public:
  static constexpr std::size_t kMostNodes = std::size_t{1} << 14;  // that wait; a power of two
  static constexpr std::size_t kMostKernels = 1024;                // of a node

  explicit FusedNodes(Ledger& ledger, std::size_t most_nodes = kMostNodes);

  // Work of the node that the slot names. Its launch is told from earlier ones by the correlation, which grows.
  void add(std::uint32_t correlation, const Slot& slot, const Work& work);
  // Enters everything that still waits.
  void flush();

  // Nodes that stayed whole.
  [[nodiscard]] std::int64_t whole() const { return whole_; }

 private:
  struct Piece {
    std::uint32_t correlation = 0;
    Slot slot;
    Work work;
  };
  struct Node {
    std::uint32_t number = 0;  // 0: none
    std::vector<Piece> pieces;
  };

  void settle(Node& node);
  // False where shapes and order disagree, or the order does not say.
  [[nodiscard]] bool tell_apart(std::vector<Piece>& pieces) const;

  Ledger& ledger_;
  std::size_t most_nodes_;
  std::vector<Node> nodes_;
  std::int64_t whole_ = 0;
};

}  // namespace debubble::attribution
