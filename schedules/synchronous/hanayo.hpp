// Hanayo: one replica of the model zig-zags over the devices in W waves, which gives Chimera's bubble without its
// second copy of the weights. Liu et al., SC 2023, arXiv 2308.15762.
//
//     P=2 W=1 m=2   d0 F0@0 F1@0 F0@3 B0@3 F1@3 B1@3 B0@0 B1@0        Fi@s: microbatch i on stage s
//                   d1 F0@1 F0@2 F1@1 F1@2 B0@2 B0@1 B1@2 B1@1
//
// S = 2WP stages: r = s mod 2P is on device r, or on 2P-1-r on the way back. At both ends of a wave the device
// hands over to itself. Orders by the slot rule (schedules/synchronous/slots.hpp), P microbatches per unit, each unit
// 2S slots: one wave is Chimera on twice the devices, folded in the middle. For more microbatches than devices, or
// several waves, the authors' own order is not known to us.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& hanayo_entry();

}  // namespace debubble
