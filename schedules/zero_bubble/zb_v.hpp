// ZB-V, the order by hand: two chunks per device in a V, so that device 0 holds the first and the last stage.
// Qi, Wan, Huang, Lin, arXiv 2401.10241v1, section 6; PyTorch's ScheduleZBVZeroBubble runs the same order.
//
//     d0 0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 0I0 0W0 ...      stages 0 and 3
//     d1 .. 1F0 2F0 1F1 2F1 2I0 2W0 ...                       stages 1 and 2
//
// For equal passes no device waits between its first and its last op, with the peak memory of 1F1B's first device on
// all. The order is made for max(m, 2p-1) microbatches; those beyond m are left out.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& zb_v_entry();

}  // namespace debubble
