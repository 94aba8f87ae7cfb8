// BPipe: 1F1B whose first devices lend activations to the last ones, so that all hold about as much.
// Kim et al., BPipe: Memory-Balanced Pipeline Parallelism, ICML 2023.
//
//     p=4, device 0      F0 F1    F2    F3 B0 F4         B1 F5         B2 ..    the newest goes to device p - 1 - d,
//     its copy lane            out1  out2     back1 out4    back2 out5          and is back when its B begins
//
// 1F1B holds p - d on device d and d + 1 on its partner; here nobody holds more than p/2 + 1.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& bpipe_entry();

}  // namespace debubble
