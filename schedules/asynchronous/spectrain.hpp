// spectrain: 1F1B without a flush or a stash; each stage predicts, from the momentum, the weights that will be current
// when the minibatch is done. (Chen, Yang, Cheng 2018)
//
//     3 devices     rows[0]  0F0 0F1 0F2 0B0 0F3 0B1 ...     v1 predicts F 2, 1, 1 and B 0, 0, 1 updates ahead
//                   rows[1]  1F0 1F1 1B0 1F2 1B1 ...         v2 predicts F 3, 2, 1 and keeps that copy for B
//                   rows[2]  2F0 2B0 2F1 2B1 ...
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& spectrain_entry();

}  // namespace debubble
