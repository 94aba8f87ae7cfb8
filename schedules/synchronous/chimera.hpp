// Chimera: 2f replicas of the model run in opposite directions over the same devices and fill each other's bubbles.
// Li & Hoefler, SC 2021, arXiv 2107.06925.
//
//     D=4 N=4   d0 F0 F1 F2 B2 F3 B3 B0 B1       microbatches 0 1 enter at device 0 (down), 2 3 at device 3 (up)
//               d1 F0 F2 F1 F3 B2 B0 B3 B1
//               d2 F2 F0 F3 F1 B0 B2 B1 B3
//               d3 F2 F3 F0 B0 F1 B1 B2 B3
//
// Placement, pair j of `pairs`=f: down j puts stage s on (jD/f + s) mod D, up j on (jD/f + D-1-s) mod D. Replicas are
// numbered down 0..f-1, then up 0..f-1; so are microbatches, replica 0's first.
//
// Modes. `direct` concatenates basic units of D microbatches. `doubling` gives every forward step two microbatches and
// every backward step one, which hides that a backward takes two forwards' time; unless `fused`, the two are separate
// ops. `halving` runs every forward whole and every backward in two halves. A last unit with fewer microbatches keeps
// the unit's order and leaves out what is not there, spread evenly over the replicas.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& chimera_entry();

}  // namespace debubble
