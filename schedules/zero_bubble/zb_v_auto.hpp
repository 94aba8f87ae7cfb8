// zb-v-auto: ZB-V by search, for given times, hops and memory.
// Qi, Wan, Huang, Lin, arXiv 2401.10241v1, section 6.
//
//     p=2 m=4, chunk times f=5 i=6 w=4      d0 0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 0F3 ...   stages 0 and 3
//                                            d1 .. 1F0 2F0 1F1 2F1 2I0 2W0 1F2 1I0 1W0 ...    stages 1 and 2
//
// `memory_limit` as for zb-auto; 1p, the default, is what zb-v holds.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& zb_v_auto_entry();

}  // namespace debubble
