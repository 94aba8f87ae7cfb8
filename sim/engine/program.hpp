// Program: a Schedule lowered to the graph that `simulate` walks. Still without any time in it.
//
// A device's nodes stand in the order of its row, so which op a node is need not be stored: the row says it.
//
// Nodes stand in an order in which every node comes after all it depends on, so one pass gives every start time. That
// such an order exists is the proof that the schedule cannot deadlock; `lower` reports the cycle when it does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "sim/core/deadlock.hpp"
#include "sim/core/op.hpp"
#include "sim/core/p2p.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

struct Program {
  // One cell of a device's row, or (blocking and coupled only) one transfer. 8 bytes: `simulate` streams over them.
  struct Node {
    // Node whose end this one waits for beside its lane: the maker of an input from another device, or (blocking and
    // coupled) the transfer that brought it; of a transfer, the maker of what it carries. -1: none.
    std::int32_t input = -1;
    std::uint32_t what = 0;  // index into `cells`; for a transfer, kTransfer + index into `channels`

    [[nodiscard]] bool is_transfer() const { return what >= kTransfer; }
    [[nodiscard]] std::size_t cell() const { return what; }
    [[nodiscard]] std::size_t channel() const { return what - kTransfer; }
  };
  static constexpr std::uint32_t kTransfer = 0x80000000;

  // A kind of work that costs the same each time it runs: an op kind on a replica's stage, or a pair of them.
  struct Cell {
    OpKind kind = OpKind::kForward;
    std::int32_t stage = 0;
    std::int32_t device = 0;          // whose compute lane it takes
    std::int32_t input_channel = -1;  // how its (first) input from another device travels; -1: it has none
    bool paired = false;
    OpKind partner_kind = OpKind::kForward;
    std::int32_t partner_stage = 0;
  };

  // A directed way between two devices for the output of one stage (an activation, or the gradient that returns).
  struct Channel {
    std::int32_t from_device = 0;
    std::int32_t to_device = 0;
    std::int32_t stage = 0;  // whose output's size counts: an activation of `stage`, or the gradient of its output
  };

  // The second input of an overlapped pair, which few nodes have: in order of nodes.
  struct SecondInput {
    std::int32_t node = 0;
    std::int32_t input = -1;
    std::int32_t channel = -1;  // overlapped only: otherwise `input` is the transfer
  };

  int devices = 0;
  int pieces = 1;  // every op costs and holds 1/pieces of a microbatch
  P2p p2p = P2p::kOverlapped;
  std::vector<Cell> cells;
  std::vector<Channel> channels;
  std::vector<Node> nodes;
  std::vector<SecondInput> second_inputs;
  std::int32_t reach = 0;  // the farthest any node looks back: max over nodes of (node - input)
  Placement placement;

  [[nodiscard]] std::int32_t device_of(const Node& node) const {
    return node.is_transfer() ? channels[node.channel()].from_device : cells[node.cell()].device;
  }
};

// Lowers a complete schedule. Time and memory are linear in the number of ops; blocking also looks at every device once
// per sweep, of which there are as many as ops on the longest chain.
// Returns Deadlock when the rows wait for each other in a cycle (under `p2p`), naming it.
// Throws InputError when the schedule is not complete (see find_problems in sim/core/check.hpp): an op twice,
// missing, out of range, or on another device than its stage's.
[[nodiscard]] std::variant<Program, Deadlock> lower(const Schedule& schedule, P2p p2p = P2p::kOverlapped);

}  // namespace debubble
