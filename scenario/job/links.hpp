// The links between the stages of a job, ideal or of a cluster.
#pragma once

#include "scenario/job/assumptions.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/core/topology.hpp"

namespace debubble {

// For a pipeline of so many devices. Throws what cluster_topology does.
[[nodiscard]] Assumed<Topology> make_topology(const Scenario& scenario, int devices);

}  // namespace debubble
