// DualPipe: two replicas of the model run towards each other over the same devices. In the main phase the forward of
// one direction and the whole backward of the other are one overlapped op, which hides the experts' all-to-all.
// DeepSeek-V3 technical report, arXiv 2412.19437; order as in github.com/deepseek-ai/DualPipe.
//
//     p=4 m=8, device 0   0F0 0F1 0F2 3F4 3I4 3W4 3F5 3B5 with 0F3 ...       microbatches 0..3 enter at device 0,
//                                                                            4..7 at device 3
//
// Replica 0 has stage s on device s, replica 1 on device p-1-s. Microbatches are numbered over both, replica 0's first.
// The gradients of the two copies of a stage must be added up between devices d and p-1-d.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& dualpipe_entry();

}  // namespace debubble
