// Lines of the summary about a run on a modelled cluster: where it was placed, what the step does in addition to the
// pipeline.
//
//     cluster        dgx-h100:8 (fluid), 64 of 64 devices: tp 8, dp 2, pp 4
//     replicas       8 simulated: 812.4 ms to 830.1 ms, the slowest is shown
//     step parts     pipeline 800.1 ms; gradient reduce 45.20 ms, 12.10 ms of it exposed; optimizer 4.31 ms
//     collectives    14.2 % of the compute time is inside stages (tensor, context, expert parallel)
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/analysis/report.hpp"

namespace debubble {

// Label and text of each; none for a run without a cluster and a step.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> cluster_lines(const Report& report);

}  // namespace debubble
