// The cluster that a run was laid on, for its report.
#pragma once

#include <optional>

#include "scenario/job/run.hpp"
#include "sim/analysis/report.hpp"

namespace debubble {

// Nothing for a pipeline alone on ideal links.
[[nodiscard]] std::optional<ClusterReport> cluster_report(const Run& run);

}  // namespace debubble
