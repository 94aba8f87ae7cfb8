// From a model's layers, measured or modelled, and a cluster to the job that planners are asked about.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/profile.hpp"
#include "sim/core/topology.hpp"
#include "studies/planners/job.hpp"

namespace debubble {

// Layers, times (medians), sizes and kinds of a profile, and the products of its transformer layers where it tells
// their sizes; no devices yet.
[[nodiscard]] PlannerJob planner_layers(const Profile& profile);

// The four products of a dense transformer layer, of so many tokens.
[[nodiscard]] std::vector<PlannerProduct> transformer_products(std::int64_t rows, const ProfiledTransformer& sizes);

// The levels of a topology, as its first `devices` devices in a row see it: ideal links are one level; of a network the
// fast domain and what lies between domains, each with the bandwidth of the slowest link on a route, alone. Where links
// are unlimited kUnlimitedLink stands for them. Devices that do not fill whole domains are one level of the
// slower links.
[[nodiscard]] std::vector<PlannerLevel> planner_levels(const Topology& topology, int devices);

// Both, for equal devices with so much memory each (0: not limited).
[[nodiscard]] PlannerJob planner_job(const Profile& profile, const Topology& topology, int devices, int microbatches,
                                     Bytes memory);

}  // namespace debubble
