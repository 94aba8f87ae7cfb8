// GEMS: two replicas of the model in opposite directions, one microbatch each in turn, so that the forward of one
// follows close after the backward of the other. Jain et al., SC 2020; as Chimera's authors describe it (arXiv
// 2107.06925).
//
//     D=3 N=2   d0 F0 .  .  .  .  .  .  B0 B0 F1 B1 B1 .  .  .  .        microbatch 0 enters at device 0,
//               d1 .  F0 .  .  .  B0 B0 .  F1 .  .  .  B1 B1 .  .        microbatch 1 at device 2
//               d2 .  .  F0 B0 B0 F1 .  .  .  .  .  .  .  .  B1 B1
//
// Replica 0 puts stage s on device s, replica 1 on D-1-s. Every device holds one microbatch at a time.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& gems_entry();

}  // namespace debubble
