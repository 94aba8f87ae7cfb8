// ExchangeSlots: what a device runs between two of its exchanges, where transfers are coupled (sim/core/p2p.hpp).
//
//     one stage per device         [0F0][0F1][0B0][0F2][0B1] ...             each cell is a slot
//     interleaved stages, 1F1B     [0F0][2F0][0F1][2F1 2B0][0F2 0B1] ...     in the steady phase F and the B after it
//     the same, split backward     [0F0][2F0][0F1 2I0][2W0 2F1 0I0] ...      W and R open the slot after them
//
// Megatron-LM's interleaved 1F1B runs a forward and a backward in each step of its steady phase and makes one exchange
// after them (send_forward_backward_recv_forward_backward); Narayanan et al., SC 2021, arXiv 2104.04473, section 2.2.
// An exchange after every op would deadlock there: the device that sends an activation waits for a receiver that
// is one op further on. So slots hold more than a cell only where a device holds several stages of a loop (stage s
// on device s mod p, one replica) and its row alternates: some F comes after a B or I. There a slot is
//
//     any number of W and R, then one of: F; B or I; F, any number of W and R, B or I
//
// where the last two join only if that B does not need that F via another device. What W and R precede,
// they delay; what precedes them is sent at once. A steady phase of a single pair looks like all forwards first;
// it is recognised by the next device, which warms up with two forwards less.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/core/schedule.hpp"

namespace debubble {

class ExchangeSlots {
 public:
  // Of any rows, faulty ones included. The schedule must outlive it.
  explicit ExchangeSlots(const Schedule& schedule) : ExchangeSlots(schedule, schedule.rows) {}
  // Of the same ops in the order in which some run went through them; the rows must outlive it, too.
  ExchangeSlots(const Schedule& schedule, const std::vector<std::vector<Op>>& rows);

  // The position after the slot that begins at `position` of the device's row.
  [[nodiscard]] std::size_t end(std::size_t device, std::size_t position) const;

 private:
  [[nodiscard]] bool needs_by_another_device(const Op& backward, const Op& forward) const;

  const Schedule* schedule_;
  const std::vector<std::vector<Op>>* rows_;
  std::vector<bool> joins_;  // by device: whether slots may hold more than a cell
};

}  // namespace debubble
