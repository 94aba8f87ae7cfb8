// Schedules of "Pipeline Parallelism with Controllable Memory" (Qi, Wan, Amar, Lin, NeurIPS 2024, arXiv 2405.15362).
//
// One microbatch's pattern of slots, the building block, is repeated every 6 slots. That fixes how long activations
// live, and so the peak. Weight gradients take the free slots. Then warm-up and drain are compacted: each of their ops
// moves to the first free slot that keeps every device below the peak it had. At last all ops close up.
//
//     slots of device d   V-Min:  d, 2p-1-d, 2p+g+d, 4p+g-1-d        V-Half:  2d, 3p-2-d, 3p+g-1+2d, 6p+g-2-d
//
// The order depends on p and m only; closing up with real times does not change it. Between the ramps it repeats with
// the block, so for many microbatches it is made for few and stretched.
#pragma once

#include <array>
#include <vector>

#include "schedules/common/contract.hpp"

namespace debubble {

// Slots of microbatch 0 on `device` of `devices`: F of stage d, F of 2p-1-d, I of 2p-1-d, I of d.
using BuildingBlock = std::array<int, 4> (*)(int device, int devices);

// The V-shaped schedule that grows from the block. Refuses fewer than two devices, or not two stages per device.
[[nodiscard]] Schedule build_from_block(const ScheduleRequest& request, const std::string& name, BuildingBlock block);

}  // namespace debubble
