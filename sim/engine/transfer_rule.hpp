// What a transfer waits for and whose compute lane it holds where it is a node of its own: one row for each such P2p.
// The walk, the run in the order of events, the recorder and the graph of what is critical all go by it; where in the
// rows transfers come is the lowering's (lower_held.cpp). Internal to sim/engine.
#pragma once

#include <stdexcept>

#include "sim/core/p2p.hpp"

namespace debubble {

struct TransferRule {
  enum class After {
    kPosted,  // of the sender the op that made the tensor, of the receiver the cell before its receive: both are inputs
    kCell,    // the last cell on the lane
    kLane,    // all that has held the lane, transfers included
  };
  After after = After::kLane;
  // Both lanes, until the last byte is there; else the receiver's next cell alone waits for it, which is its user.
  bool holds_lanes = true;
};

[[nodiscard]] constexpr TransferRule transfer_rule(P2p p2p) {
  using After = TransferRule::After;
  switch (p2p) {
    case P2p::kBlocking:
      return {After::kLane, true};
    case P2p::kCoupled:
      return {After::kCell, true};
    case P2p::kLate:
      return {After::kPosted, false};
    case P2p::kOverlapped:
      break;
  }
  throw std::logic_error("overlapped transfers are no nodes");
}

}  // namespace debubble
