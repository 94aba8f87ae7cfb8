// The cluster that a job was mapped onto, for its report.
#pragma once

#include <optional>
#include <vector>

#include "scenario/job/job.hpp"
#include "sim/analysis/report.hpp"

namespace debubble {

// Nothing for a pipeline alone on ideal links. `replica_makespans` are those of the replicas that were simulated, empty
// where one represents all; `makespan` is that of the slowest.
[[nodiscard]] std::optional<ClusterReport> cluster_report(const Job& job,
                                                          const std::vector<Nanoseconds>& replica_makespans,
                                                          Nanoseconds makespan);

}  // namespace debubble
