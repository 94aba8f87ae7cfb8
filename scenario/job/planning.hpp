// Schedules whose order depends on the costs: what their builders may know, and limits on all of a device's memory.
#pragma once

#include <string>

#include "schedules/common/contract.hpp"
#include "sim/core/p2p.hpp"
#include "sim/core/topology.hpp"

namespace debubble {

// Builds a schedule of a row with `uses_costs` for these costs and links. A `memory_limit` with a unit holds for all
// memory of a device, as the simulation counts it: received tensors too, which only the finished order tells.
[[nodiscard]] Schedule build_planned(const std::string& name, const ScheduleRequest& request, const StageCosts& costs,
                                     const Topology& topology, P2p p2p);

}  // namespace debubble
