// The plan of a run as the processes of debubble_torch read it; python/debubble_torch/plan.py says how it looks.
#pragma once

#include <string>

#include "live/backends.hpp"
#include "live/job.hpp"

namespace debubble::live {

// `iterations` counts all of them, the proof's included.
[[nodiscard]] std::string torch_plan(const Job& job, const TorchOptions& options, int iterations);

}  // namespace debubble::live
