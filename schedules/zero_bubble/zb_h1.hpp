// ZB-H1: 1F1B with the backward split in two, the weight gradients delayed to fill the tail; 1F1B's peak memory.
// Qi, Wan, Huang, Lin, "Zero Bubble Pipeline Parallelism", ICLR 2024, arXiv 2401.10241.
//
//     d0 F0 F1 .. I0 W0 F2 I1 W1 F3 I2 W2 I3 W3     device d starts W after d extra I
//     d1 .. F0 I0 F1 I1 W0 F2 I2 W1 F3 I3 W2 W3
//
// The paper writes B for what PyTorch's tables, and we, call I.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& zb_h1_entry();

}  // namespace debubble
