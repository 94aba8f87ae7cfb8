// V-Half: stages in a V, and a building block whose lifespans leave half of 1F1B's activations on every device.
// Qi, Wan, Amar, Lin, "Pipeline Parallelism with Controllable Memory", NeurIPS 2024, arXiv 2405.15362.
//
//     p=4 m=4   d0 0F0 0F1 0F2 0F3 7F0 7I0 7W0 7F1 7I1 7W1 7F2 0I0 7I2 7W2 7F3 0W0 0I1 7I3 7W3 0W1 0I2 0W2 0I3 0W3
//               d3 3F0 4F0 3F1 4F1 3F2 4F2 4I0 4W0 3I0 3W0 3F3 4F3 4I1 4W1 3I1 3W1 4I2 4W2 3I2 3W2 4I3 4W3 3I3 3W3
//
// Slots of one microbatch on device d: 2d, 3p-2-d, 3p+g-1+2d, 6p+g-2-d, with g = 3 for even p and 0 for odd.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& v_half_entry();

}  // namespace debubble
