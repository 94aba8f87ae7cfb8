// The host beside the GPU: what it takes to launch a phase's kernels, and how long the GPU waits for it.
#pragma once

#include <cstdint>
#include <vector>

#include "cost_models/transformer/layer_ops.hpp"

namespace debubble {

// Parts of one product are one call of a framework, which launches them in a row. So are experts' products, each a call
// of the library of its own.
[[nodiscard]] Nanoseconds host_time(const LayerOp& op, Nanoseconds host_launch);

// One op as the two see it.
struct HostStep {
  Nanoseconds host = 0;       // for all its launches
  std::int64_t launches = 1;  // of kernels alike
  Nanoseconds device = 0;     // what they take on the GPU
  bool waits = false;         // before it the host waits until the GPU has done what it was given
};

// What the GPU waits for in a phase that follows one like it: all of the host's lead is gone where the host waits.
[[nodiscard]] Nanoseconds device_waits(const std::vector<HostStep>& steps);

}  // namespace debubble
