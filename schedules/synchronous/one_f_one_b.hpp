// 1F1B, also PipeDream-Flush and DAPPLE's policy PA: warm up until the first backward can come back, then alternate.
// Narayanan et al., ICML 2021, arXiv 2006.09503; Megatron-LM's default, arXiv 2104.04473.
//
//     d0 F0 F1 .. .. B0 F2 B1 F3 B2 .. B3        bubble (p-1)/(m+p-1), device d holds min(p-d, m) activations
//     d1 .. F0 B0 F1 B1 F2 B2 F3 B3
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& one_f_one_b_entry();

}  // namespace debubble
