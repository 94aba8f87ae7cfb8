// Program: a Schedule lowered to the graph that `simulate` walks. Still without any time in it.
//
// A device's nodes are in the order of its row, so which op a node is need not be stored: the row says it.
//
// Nodes are in an order in which every node comes after all it depends on, so one pass gives every start time. That
// such an order exists is the proof that the schedule cannot deadlock; `lower` reports the cycle when it does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "sim/core/op.hpp"
#include "sim/core/p2p.hpp"
#include "sim/core/piece_share.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/topology.hpp"
#include "sim/rows/deadlock.hpp"

namespace debubble {

struct Program {
  // One cell of a device's row, or (where transfers do not overlap) one transfer. 8 bytes: `simulate` streams over
  // them.
  struct Node {
    // Node whose end this one waits for in addition to its lane: the maker of an input from another device, or
    // (where it is a node) the transfer that brought it; of a transfer, the maker of what it carries. -1: none.
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
    // What the ops of one kind and stage may differ in: the place of an unequal piece in its microbatch, and whether
    // the piece is recomputed, so that its F keeps a checkpoint only.
    std::int32_t piece_class = 0;
    std::int32_t partner_class = 0;
    bool recomputed = false;
    bool partner_recomputed = false;
    // The second member uses what the first makes (a late recomputation and its backward): they never run concurrently.
    bool in_sequence = false;
    // Of a copy: `kind` and `stage` name the F whose activation moves, `device` is the copy lane, device + devices.
    bool is_copy = false;
    Copy::Way way = Copy::Way::kOut;
  };

  // A directed route between two devices for the output of one stage (an activation, or the gradient that returns).
  struct Channel {
    std::int32_t from_device = 0;
    std::int32_t to_device = 0;
    std::int32_t stage = 0;  // whose output's size counts: an activation of `stage`, or the gradient of its output
    std::int32_t piece_class = 0;
  };

  // What a node waits for in addition to its lane and `input`: the second input of an overlapped pair, copies,
  // barriers; of a late or joined transfer the cell in front of its receive, of a cell the exchange that it waits for
  // as a whole. Else few nodes have any; in order of nodes.
  struct ExtraInput {
    enum class Wait : std::uint8_t {
      kArrival,   // `what` is the channel (overlapped only: otherwise `input` is the transfer)
      kEnd,       // of the node: nothing travels, or the node is a transfer
      kBegin,     // of the node
      kGathered,  // a barrier after the node's end; `what` is its number: microbatch piece, + pieces for T
    };
    std::int32_t node = 0;
    std::int32_t input = -1;
    std::int32_t what = -1;
    Wait wait = Wait::kArrival;
  };

  // A copy's node: in addition to taking its lane it changes memory on its device and on the one that keeps the
  // activation.
  struct CopyNode {
    std::int32_t node = 0;
    std::int32_t device = 0;
    std::int32_t peer = -1;  // -1: the host
  };

  int devices = 0;
  int lanes = 0;       // the devices' compute lanes, then as many copy lanes where there are copies
  PieceShares shares;  // what every op costs and holds of a microbatch
  bool pairs_run_side_by_side = false;
  bool replicas_share_weights = false;
  // Weight-sized buffers in addition to every stage's own copy, by replica, then stage; empty: none
  // (weight_versions.hpp).
  std::vector<std::int32_t> extra_weights;
  bool has_features = false;  // made by lower_features.cpp: rows hold more than F, B, I and W, or pieces differ
  P2p p2p = P2p::kOverlapped;
  std::vector<Cell> cells;
  std::vector<Channel> channels;
  std::vector<Node> nodes;
  std::vector<ExtraInput> extra_inputs;
  std::vector<CopyNode> copies;
  std::int32_t reach = 0;  // the farthest any node looks back: max over nodes of (node - input)
  Placement placement;

  [[nodiscard]] std::int32_t device_of(const Node& node) const {
    return node.is_transfer() ? channels[node.channel()].from_device : cells[node.cell()].device;
  }
};

// What a transfer of so many bytes takes, alone.
using TransferTimes = std::function<TransferTime(const Program::Channel&, Bytes)>;

// Lowers a complete schedule.
// Time and memory are linear in the number of ops; blocking takes for each the logarithm of the number of devices
// beside it.
// Returns Deadlock when the rows wait for each other in a cycle (under `p2p`), naming it.
// Throws InputError when the schedule is not complete (see find_problems in sim/rows/check.hpp): an op twice,
// missing, out of range, or on another device than its stage's; for shards of the vocabulary and copies where
// transfers do not overlap (X012); and for joined transfers of an order that has none (X013).
[[nodiscard]] std::variant<Program, Deadlock> lower(const Schedule& schedule, P2p p2p = P2p::kOverlapped);

}  // namespace debubble
