// PyTorch's ScheduleInterleavedZeroBubble: interleaved 1F1B whose backward is split, so that half the warm-up suffices
// and weight gradients fill the tail. The idea of ZB-H1 over several stages per device; at v = 1 it would be ZB-H1.
// Qi, Wan, Huang, Lin, "Zero Bubble Pipeline Parallelism", ICLR 2024, arXiv 2401.10241; order as in PyTorch.
//
//     p=2 v=2 m=2   d0 0F0 0F1 2F0 2F1 2I0 2W0 2I1 2W1 0I0 0W0 0I1 0W1
//                   d1 1F0 1F1 3F0 3I0 3F1 3I1 3W0 1I0 3W1 1I1 1W0 1W1     device d holds back d weight gradients
//
// Microbatches go through in rounds of q = m div max(1, m div p), which must come out even.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& interleaved_zb_entry();

}  // namespace debubble
