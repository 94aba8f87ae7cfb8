// How transfers between devices meet the compute lanes.
#pragma once

#include <cstdint>

namespace debubble {

enum class P2p : std::uint8_t {
  // Transfers run on their own lanes. Compute never waits for a send, only for the arrival of its own input.
  kOverlapped,
  // A transfer holds the compute lanes of sender and receiver together, one transfer at a time. The sender's order
  // decides where the receiver takes part, the rule by which PyTorch places receives, so it cannot add a deadlock.
  kBlocking,
  // An eager 1F1B runtime: all that a device sends and receives between two of its slots is one fused exchange. It is
  // posted after the first slot, each transfer starts when both ends are posted, and the next slot waits for all of it.
  // A slot is one op or overlapped pair; on interleaved stages F and B of the steady phase (exchange_slots.hpp), and
  // some inputs are received before an earlier slot than their own (joined_exchanges.hpp).
  kCoupled,
  // A receive is posted at one place of the receiver's row (sim/rows/posted_receives.hpp), as in PyTorch's runtime: a
  // transfer begins once its tensor is made and the receiver has ended what it runs before that place. The op that uses
  // it waits for the transfer; nobody else does.
  kLate,
  // Between two cells a device sends what the first made, then receives what the second takes, one after another, each
  // holding both compute lanes; before a backward it receives first where the other end sends first (DeepSpeed's
  // TrainSchedule; transfer_order.hpp).
  kRendezvous,
  // As late, with receives where Megatron-LM's interleaved 1F1B posts them; in warm-up and cool-down a device waits
  // after each pass for all it sends and receives there (sim/rows/joined_exchanges.hpp).
  kJoined,
};

// Whether a transfer holds the compute lanes of its sender and its receiver.
[[nodiscard]] constexpr bool holds_both_lanes(P2p p2p) {
  return p2p == P2p::kBlocking || p2p == P2p::kCoupled || p2p == P2p::kRendezvous;
}

}  // namespace debubble
