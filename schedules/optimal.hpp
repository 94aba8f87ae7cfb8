// optimal: an order searched for the given times, hops and memory, with a proof of how good it is.
//
//     p=4 m=8, f=i=w=1, memory_limit=3     zb-auto 37, here 31, and no order within that memory takes less
//
// Of all rows of the catalog that have these stages on these devices and keep the limit, the search starts from the
// fastest (optimal/order_starts.hpp), improves it window by window (optimal/order_search.hpp) and compares it with what
// no order can undercut (optimal/order_bounds.hpp); a small problem is searched whole, by branch and bound
// (optimal/window_search.hpp). So it is never slower than those rows, and its proof says how much faster any order
// could be at most. A budget counts nodes of the search, so the same input gives the same order on every machine; one
// in seconds does not.
//
// With offload=yes activations may leave for the host and come back (optimal/copies/copied_order.hpp); the search
// without copies comes first, with all of its budget, so copies never make the step longer.
//
// An order is one for the times that it was made for, and for transfers that overlap with compute, each alone on its
// link.
#pragma once

#include "schedules/common/contract.hpp"
#include "schedules/optimal/order_proof.hpp"

namespace debubble {

struct OptimalSchedule {
  Schedule schedule;  // as the row builds it: its last note is proof_text(proof)
  OrderProof proof;
};

// Throws InputError (S006, S007, S042, S062, L007) for what cannot be planned.
[[nodiscard]] OptimalSchedule search_optimal(const ScheduleRequest& request);

[[nodiscard]] const ScheduleEntry& optimal_entry();

}  // namespace debubble
