// DAPPLE: 1F1B with a chosen number of microbatches in flight per stage, and a cap on it. Fan et al., PPoPP 2021,
// arXiv 2007.01045.
//
//     p=3 m=4, policy b   d0 F0 F1 F2 F3 B0 B1 B2 B3        K = 5, of which there are 4
//                         d1 F0 F1 F2 B0 F3 B1 B2 B3        K = 3
//                         d2 F0 B0 F1 B1 F2 B2 F3 B3        K = 1
//
// Stage s starts K forwards, then backward and forward in turn. Policy a: K = p - s, as 1F1B, for links that are quick
// compared with compute. Policy b: K = 2(p - s) - 1, which hides a latency of up to (f + b) / 2 per hop. `memory_limit`
// caps K on every device by the activations that fit; without one the times and sizes do not matter. This is the
// schedule only: DAPPLE's replicated stages and its planner are not part of it.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& dapple_entry();

}  // namespace debubble
