// transfer_order: where transfers are placed among the cells when they hold compute lanes, found without any times.
//
//     blocking, 2 devices    device 0  0F0 [0F0>] 0F1 [0F1>] [<1B0] 0B0 ...     a transfer holds both lanes at once:
//                            device 1      [>0F0] 1F0 1B0 [>0F1] [1B0>] ...     after its maker, before its user
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "sim/core/p2p.hpp"
#include "sim/rows/deadlock.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble {

struct Placed {
  std::int32_t op = -1;      // its id: of a cell's first op, or of the op whose output travels to another device
  bool transfer = false;     // the second
  std::int32_t behind = -1;  // of a transfer: the op whose transfer it waits for beside what its lanes ran
};

// All cells and transfers in one order that keeps every device's own. Blocking: PyTorch's sweep, device by device, one
// cell that has its inputs at a time, its outputs sent after it. Coupled: in the order in which exchanges (all sends
// of a slot with all receives of the next, exchange_slots.hpp) are matched at both ends. Rendezvous: as below. A
// schedule that deadlocks under one of these two gets nothing. Ops outside the schedule's numbers are not placed. Empty
// for transfers that hold nothing.
[[nodiscard]] std::vector<Placed> transfer_order(const OpIndex& ops, P2p p2p);

// All sends of a slot and all receives of the next one are posted together, and all matched, that is, posted at both
// ends, before that slot. On interleaved stages some are received earlier (joined_exchanges.hpp).
[[nodiscard]] std::variant<std::vector<Placed>, Deadlock> coupled_order(const OpIndex& ops);

// Between two cells a device sends what the first made, then receives what the second takes. After a forward and before
// a backward it receives the gradient first where the other end runs that backward before it uses the activation: it
// sends first. Of a schedule that is free of deadlock where transfers overlap; or the cycle in which devices wait.
[[nodiscard]] std::variant<std::vector<Placed>, Deadlock> rendezvous_order(const OpIndex& ops);

}  // namespace debubble
