// PipeOffload: an interleaved order whose microbatches follow each other at an even pace, with activations offloaded to
// the host. Wan et al., arXiv 2503.01328.
//
// In slots of one pass, a microbatch starts every 3 v slots. A forward goes to the next device one slot later, a
// backward two, because its weight gradient follows it at once; chunk c comes 3 g slots after chunk c - 1, where g is
// the smallest number from p/2 on without a common factor with v, so that no two passes of a device share a slot:
//
//     p=4 v=2 g=3, device 0     F(0,0) F(1,0) F(0,1) F(2,0) F(1,1) ..      F(microbatch, chunk)
//
// The earliest chunks' activations stay longest, by 6 g slots per chunk; they are offloaded first.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& pipeoffload_entry();

}  // namespace debubble
