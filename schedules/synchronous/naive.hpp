// Naive model parallelism: one microbatch goes through all stages and back before the next one enters. What GPipe and
// everything after it improve on (Huang et al., NeurIPS 2019, arXiv 1811.06965, section 1).
//
//     p=3 m=2   d0 F0 .  .  .  .  B0 F1 .  .  .  .  B1
//               d1 .  F0 .  .  B0 .  .  F1 .  .  B1
//               d2 .  .  F0 B0 .  .  .  .  F1 B1
//
// The rows alone keep it so: device 0 has B0 before F1, and B0 is the last op of microbatch 0.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& naive_entry();

}  // namespace debubble
