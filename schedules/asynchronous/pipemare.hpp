// pipemare: no flush and no stash. F reads the newest weights, B reads newer ones; an estimate of how the weights move
// corrects the difference. (Yang et al., MLSys 2021)
//
//     2 devices, engines=1     rows[0]  0F0 0F1 0B0 0F2 0B1 ...         engines=2     0F0 0F1 0F2 (0F3;0B0) (0F4;0B1)
//     ...
//                              rows[1]  1F0 1B0 1F1 1B1 ...                           1F0 (1F1;1B0) (1F2;1B1) ...
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& pipemare_entry();

}  // namespace debubble
