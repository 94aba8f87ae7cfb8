// Lower bounds: no order of an OrderProblem costs less, as no device does more than one op at a time, no op begins
// before its inputs arrive, and no device holds more than its limit.
#pragma once

#include <string>

#include "schedules/optimal/order_problem.hpp"

namespace debubble {

struct OrderBound {
  Nanoseconds cost = 0;
  std::string because;  // "device 3 has work for so long after its first input": what makes it the largest
};

// The largest of what each device, each stage and its memory need:
//
//   work       the first input's arrival + all work of the device
//   first I    the first gradient's arrival + all work but the forwards that fit into the memory before it
//   drain      the first input's arrival + all that precedes the device's last gradient + the way from there to the end
//   memory     every microbatch holds its activation for a round trip at least: the sum of bytes x time over the limit
//   turns      with room for n microbatches, the last of m waits for (m - 1) / n round trips before it
[[nodiscard]] OrderBound order_bound(const OrderProblem& problem);

// Where activations may leave for the host, only this holds of what memory says: bytes x time of all activations over
// the limit, each of them at home for its round trip or away for as much of it as its copies and its lane allow.
[[nodiscard]] OrderBound copied_memory_bound(const OrderProblem& problem);

}  // namespace debubble
