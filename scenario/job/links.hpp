// The links between the stages of a job, ideal or of a cluster.
#pragma once

#include <string>
#include <vector>

#include "scenario/job/assumptions.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/core/p2p.hpp"
#include "sim/core/topology.hpp"

namespace debubble {

// For a pipeline of so many devices. Throws what cluster_topology does.
[[nodiscard]] Assumed<Topology> make_topology(const Scenario& scenario, int devices);

// How the transfers of that schedule meet compute: as typed, else late where the schedule places its receives, else as
// the framework's runtime has it, else beside compute.
[[nodiscard]] P2p transfers_of(const Scenario& scenario, const std::string& name, bool has_receives);
void assume_transfers(const Scenario& scenario, P2p p2p, std::vector<Assumption>& assumptions);

}  // namespace debubble
