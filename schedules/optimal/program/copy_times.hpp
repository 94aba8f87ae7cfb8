// When the ops and copies of an order begin and end, as the engine runs them: every op and copy as soon as its row or
// lane, its inputs and its gate allow. No op waits for memory, so what a device holds follows from the times.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/optimal/order_problem.hpp"

namespace debubble {

// One way of an activation between its device and the host. Copies of a device run one at a time, in their order.
struct OrderCopy {
  bool back = false;         // out begins when its F has ended, back takes its memory when it begins
  std::int32_t forward = 0;  // queue of the F that made it
  std::int32_t microbatch = 0;
  std::int32_t after = -1;  // of a copy back: position in the device's row of the op that must have begun

  friend bool operator==(const OrderCopy&, const OrderCopy&) = default;
};

using OrderCopies = std::vector<std::vector<OrderCopy>>;  // by device

struct CopiedTimes {
  bool runs = false;          // false: a deadlock, and nothing else is known
  Nanoseconds cost = 0;       // as OrderTimes::cost
  std::vector<Bytes> peaks;   // by device, of activations
  Bytes over = 0;             // beyond the limits, summed over all moments at which a device takes memory
  std::int32_t over_on = -1;  // the device that is beyond its limit first, and when
  Nanoseconds over_at = 0;
  std::vector<std::vector<Nanoseconds>> begins;  // of ops, by device and position in its row
  std::vector<std::vector<Nanoseconds>> copied;  // begins of copies, by device and position in its lane
};

// `copies`: one entry per device.
[[nodiscard]] CopiedTimes time_with_copies(const OrderProblem& problem, const Orders& orders,
                                           const OrderCopies& copies);

}  // namespace debubble
