// From the checked flags to the Topology that a run is simulated on.
#pragma once

#include <vector>

#include "scenario/job/assumptions.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/topology.hpp"

namespace debubble {

// Throws InputError B017 where the job, with a pipeline of `devices`, has more ranks than the cluster has devices, with
// the nearest sizes that fit; B015 for a device that the cluster does not have. To be called before anything is routed.
void check_ranks_fit(const ClusterScenario& cluster, int devices);

// The same, and C009 for --comm and --bandwidth, which speak of links that a cluster knows itself.
void check_job_fits(const Scenario& scenario, int devices);

// The cluster with a pipeline of `devices` mapped onto it. Throws what check_job_fits does. Needs
// scenario.cluster.graph.
[[nodiscard]] Assumed<Topology> cluster_topology(const Scenario& scenario, int devices);

// What is assumed about the ranks, wherever any of them were asked for: "tp 8, dp 4, pp 4: 128 ranks".
[[nodiscard]] std::vector<Assumption> rank_assumptions(const ClusterScenario& cluster, int devices);

}  // namespace debubble
