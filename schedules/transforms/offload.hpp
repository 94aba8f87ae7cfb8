// offload: activations leave the device between their forward and their backward, on the copy lane.
//
//     1f1b, p = 4, m = 8, device 0     row    0F0 0F1 0F2 0F3 0B0 0F4  0B1 0F5  0B2 0F6 0B3 ..
//     share=0.5                        lane           out1        back1    out3         back3      at most 3, not 4
//
// What can be away is found by a timetable of the schedule: an activation leaves when its forward has ended and the
// lane is free, and starts back with the last cell from which it is there in time; one that could not be back in time
// stays. Those leave that lower the peak (offload.cpp). Rows and order do not change.
#pragma once

#include "schedules/transforms/contract.hpp"

namespace debubble {

[[nodiscard]] const TransformEntry& offload_entry();

}  // namespace debubble
