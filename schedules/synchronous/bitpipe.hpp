// BitPipe: two replicas in opposite directions, each folded into a V over the devices. Wu, Chen, Yu, AAAI 2025,
// arXiv 2410.19367.
//
//     D=2 m=2   d0 Fd0@0 Fu0@1 Fu0@2 Fd0@3 Bd0@3 Bu0@2 Bu0@1 Bd0@0      d, u: down and up; @s: stage
//               d1 Fu0@0 Fd0@1 Fd0@2 Fu0@3 Bu0@3 Bd0@2 Bd0@1 Bu0@0
//
// 2D stages. Down: stage s on device s, and on 2D-1-s on the way back; up: the mirror image. Microbatches: the down
// replica's first. Orders by the slot rule (schedules/synchronous/slots.hpp), D/2 microbatches per replica and unit,
// each unit 4D slots; the authors' program gives the same sequences. Their ranks are permuted so that mirrored devices
// are neighbours in the network; here devices are numbered along the pipeline.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& bitpipe_entry();

}  // namespace debubble
