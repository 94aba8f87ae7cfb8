// GIS: interleaved 1F1B with a split backward, every W right after its I, and the shortest warm-up. A group of fewer
// than p microbatches (GIS-H: half of them) shortens how long activations live, for some more bubble.
// Wan, Qi, Huang, Li, Lin, "PipeOffload", arXiv 2503.01328.
//
//     p=2 v=2 m=2 group=2   d0 0F0 0F1 2F0 2F1 2I0 2W0 2I1 2W1 0I0 0W0 0I1 0W1
//                           d1 1F0 1F1 3F0 3I0 3W0 3F1 3I1 3W1 1I0 1W0 1I1 1W1
//
// Where the group does not divide m, the order is that of the next multiple, without the microbatches beyond m: so the
// authors' generator gets its lengths.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& gis_entry();

}  // namespace debubble
