// ZB-H2: as ZB-H1, with two forwards per hop in the warm-up: for equal passes a parallelogram without a bubble.
// Qi, Wan, Huang, Lin, "Zero Bubble Pipeline Parallelism", ICLR 2024, arXiv 2401.10241.
//
//     d0 F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3        device d starts W after 2d extra I
//     d1 .. F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
//
// The claim is about the span of each device, not about the makespan: iterations follow each other without a gap when
// the optimizer step is no barrier between devices.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& zb_h2_entry();

}  // namespace debubble
