// What a transfer waits for where it is a node of its own and holds compute lanes: one row for each such P2p. The walk,
// the run in the order of events, the recorder and the graph of what is critical all go by it; where in the rows
// transfers come is the lowering's. Nodes that hold no lane (late, joined) wait for what their inputs name. Internal to
// sim/engine.
#pragma once

#include <stdexcept>

#include "sim/core/p2p.hpp"

namespace debubble {

// Of both ends.
enum class TransferAfter {
  kCell,  // the last cell on the lane
  kLane,  // all that has held the lane, transfers included
};

[[nodiscard]] constexpr TransferAfter transfer_after(P2p p2p) {
  if (!holds_both_lanes(p2p)) throw std::logic_error("transfers that hold no lanes wait for their inputs");
  return p2p == P2p::kCoupled ? TransferAfter::kCell : TransferAfter::kLane;
}

}  // namespace debubble
