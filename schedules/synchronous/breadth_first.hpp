// Breadth-first (looped BFS): a device runs one of its chunks for all microbatches before the next chunk.
// Lamy-Poirier, MLSys 2023, arXiv 2211.05953.
//
//     p=2 m=2 v=2   d0 F0.0 F1.0 F0.1 F1.1 B1.1 B0.1 B1.0 B0.0       Fi.c: microbatch i, chunk c of the device
//                   d1 F0.0 F1.0 F0.1 F1.1 B1.1 B0.1 B1.0 B0.0
//
// Stage s is on device s mod p. The bubble is the interleaved schedule's; memory is GPipe's; a chunk's gradients
// are complete early, and its weights need to be present for one stretch of the forward and one of the backward only.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& breadth_first_entry();

}  // namespace debubble
