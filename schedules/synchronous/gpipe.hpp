// GPipe: all forwards, then all backwards. Huang et al., NeurIPS 2019, arXiv 1811.06965.
//
//     d0 F0 F1 F2 F3 .. .. .. B3 B2 B1 B0        bubble (p-1)/(m+p-1), every device holds m activations
//     d1 .. F0 F1 F2 F3 B3 B2 B1 B0 ..
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& gpipe_entry();

}  // namespace debubble
