// Depth-first: Lamy-Poirier's name for Megatron-LM's interleaved order with groups of p microbatches, which he sets
// against breadth-first (MLSys 2023, arXiv 2211.05953). The same rows as `interleaved`, which tells and does more.
#pragma once

#include "schedules/common/contract.hpp"

namespace debubble {

[[nodiscard]] const ScheduleEntry& depth_first_entry();

}  // namespace debubble
