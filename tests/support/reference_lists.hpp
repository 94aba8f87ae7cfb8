// Where the reference simulator has the transfers of a run, for the modes that give each of them a place.
#pragma once

#include <tuple>
#include <vector>

#include "sim/core/p2p.hpp"
#include "tests/support/reference_simulator.hpp"

namespace debubble::reference {

struct Address {
  std::size_t device = 0;
  std::size_t cell = 0;
};

struct Input {
  Address producer;
  int hop = -1;           // index into hops; -1: nothing travels
  Nanoseconds later = 0;  // a barrier after the producer's end
};

using Key = std::tuple<OpKind, int, int>;
[[nodiscard]] inline Key key_of(const Op& op) { return {op.kind, op.stage, op.microbatch}; }

// What the timing rules need to know; built once, read by all modes.
struct Plan {
  std::vector<std::vector<std::vector<Input>>> inputs;  // device, cell
  std::vector<std::vector<Nanoseconds>> duration;       // device, cell
};

struct Entry {
  bool is_hop = false;
  std::size_t index = 0;  // of the hop, or of the device's cell
};
using Lists = std::vector<std::vector<Entry>>;

// Blocking. Per device: cells and transfers in the order in which they will hold its lane. The producer places both
// ends of a transfer right behind its cell; each sweep looks at one cell of each device.
[[nodiscard]] Lists place_transfers(const Plan& plan, const Outcome& outcome);

// Rendezvous. Per device: between two cells what it sends, then what it receives, but for gradients that the other end
// sends first.
[[nodiscard]] Lists list_meetings(const Outcome& outcome);

// Late and joined. Where receives are posted is held against PyTorch's and Megatron-LM's own code elsewhere
// (tests/property/interleaved_exchange_test.cpp, tests/golden/framework_transfers_test.cpp); here it is only timed.
struct PostedHops {
  std::vector<std::size_t> before;                             // by hop: the receiver's cell before its receive
  std::vector<std::vector<std::vector<std::size_t>>> awaited;  // by device and cell: hops that it waits for as well

  [[nodiscard]] std::vector<std::size_t> awaited_by(std::size_t device, std::size_t cell) const {
    return awaited.empty() ? std::vector<std::size_t>{} : awaited[device][cell];
  }
};
[[nodiscard]] PostedHops posted_hops(const Schedule& schedule, P2p p2p, const Outcome& outcome);

// Coupled: what an exchange receives is held against Megatron-LM's own code elsewhere (tests/witness/megatron_test.py);
// here it is only timed.
struct CoupledHops {
  std::vector<std::size_t> before;  // by hop: the receiver's cell that begins the slot behind the exchange
  std::vector<std::size_t> behind;  // by hop: the hop that ends before it is posted; the number of hops: none
};
[[nodiscard]] CoupledHops coupled_hops(const Schedule& schedule, const Outcome& outcome);

}  // namespace debubble::reference
