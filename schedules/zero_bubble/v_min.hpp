// V-Min: stages in a V, and a building block with the shortest lifespans: a third of 1F1B's activations on every
// device. Qi, Wan, Amar, Lin, "Pipeline Parallelism with Controllable Memory", NeurIPS 2024, arXiv 2405.15362.
//
//     p=4 m=4   d0 0F0 0F1 0F2 7F0 7I0 7W0 7F1 7I1 7W1 0I0 0W0 0F3 7F2 7I2 0I1 7W2 0W1 7F3 7I3 0I2 7W3 0W2 0I3 0W3
//               d3 3F0 4F0 3F1 4F1 4I0 3I0 4W0 3W0 3F2 4F2 4I1 3I1 4W1 3W1 3F3 4F3 4I2 3I2 4W2 3W2 4I3 3I3 4W3 3W3
//
// Slots of one microbatch on device d: d, 2p-1-d, 2p+g+d, 4p+g-1-d, with g = 2 where 3 divides p, else 0.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& v_min_entry();

}  // namespace debubble
