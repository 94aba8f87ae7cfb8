// DualPipeV: DualPipe cut in half. p devices hold 2p stages in a V, so one copy of the weights is enough; the phases
// and the overlapped forward and backward stay.
// Qi, Wan, Huang, Lin, "DualPipe could be better without the Dual", 2025; order as PyTorch's ScheduleDualPipeV.
//
//     device d holds stages d and 2p-1-d; device 0 the first and the last
//
//     p=2 m=4   d0 0F0 0F1 0F2 3F0 3I0 3W0 3F1 (0F3;3B1) (3F2;0B0) 3B2 (3F3;0B1) 3B3 0I2 0W2 0I3 0W3
//               d1 1F0 2F0 1F1 2F1 1F2 2B0 (2F2;1B0) (1F3;2B1) (2F3;1B1) 2B2 1B2 2I3 1I3 2W3 1W3
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& dualpipe_v_entry();

}  // namespace debubble
