// Wavelet's tick-tock: two waves on the same devices, the second so much later that its forwards fill the memory that
// the first's backwards free. After the idea of Wang et al., Wavelet, MLSys 2021; the order is a proposal.
//
//     p=2, waves of 2     d0  F0 F1 F2 .. B1 F3 B0 .. B3 B2         tick 0 1, tock 2 3, each wave like gpipe;
//                         d1  .. F0 F1 B1 B0 F2 F3 B3 B2 ..         tock sets off when tick turns to its backwards
//
// Each wave trains a replica of its own. With passes of one length, all devices together hold about one wave's
// activations at any time, where two waves at once would hold two.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& wavelet_entry();

}  // namespace debubble
