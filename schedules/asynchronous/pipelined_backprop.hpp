// pipelined-backprop: every device runs a forward and a backward side by side and updates after each sample; delays
// grow by two updates per stage. (Kosson et al., MLSys 2021)
//
//     3 devices     rows[0]  0F0 0F1 0F2 0F3 (0F4;0B0) (0F5;0B1) ...
//                   rows[1]  1F0 1F1 (1F2;1B0) (1F3;1B1) ...
//                   rows[2]  2F0 2B0 2F1 2B1 ...
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& pipelined_backprop_entry();

}  // namespace debubble
