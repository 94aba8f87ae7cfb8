// zb-auto: ZB-1p and ZB-2p, the automatic scheduler of the zero-bubble paper: an order for given times, hops and
// memory. Qi, Wan, Huang, Lin, "Zero Bubble Pipeline Parallelism", ICLR 2024, arXiv 2401.10241, section 3.
//
//     f=10 i=11 w=7, hop 2, memory_limit=1p      d0 F0 F1 .. I0 W0 F2 I1 W1 F3 I2 W2 .. I3 W3
//                                                d1 .. F0 I0 F1 I1 W0 F2 I2 W1 F3 I3 W2 W3
//
// `memory_limit` is what the activations of a device may take; 1p gives the paper's ZB-1p, 2p its ZB-2p. More than
// about 2p changes nothing. Stages may differ in time and memory, hops and limits too. A limit works as soon as it
// holds one microbatch of its device: with less memory the order only becomes slower.
//
// The paper's cost is the span of one device, not the makespan: its optimizer step has no barrier between stages.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& zb_auto_entry();

}  // namespace debubble
