// offload: activations leave the device between their forward and their backward, on the copy lane.
//
//     1f1b, p = 2, m = 3, device 0     row      0F0   0F1   0B0   0F2   0B1   0B2
//     share=0.5                        lane         out1  .     back1                 the longest stays go first
//
// What can be away is found by a timetable of the schedule: an activation leaves when its forward has ended and the
// lane is free, and returns as late as it can; one that could not be back in time stays. Rows and order do not change.
#pragma once

#include "schedules/transforms/contract.hpp"

namespace debubble {

[[nodiscard]] const TransformEntry& offload_entry();

}  // namespace debubble
