#include "cost_models/transformer/host_pace.hpp"

#include <algorithm>

namespace debubble {

// A block of GPT of which the model counts 28 kernels launched 48 (traces/kernels/README.md, plain PyTorch on an H100):
// the host's time for a kernel that is counted holds 48/28 launches and what a framework does around them, and one more
// launch of the same call takes 28/48 of it.
Nanoseconds host_time(const LayerOp& op, Nanoseconds host_launch) {
  constexpr std::int64_t kCounted = 28;
  constexpr std::int64_t kLaunched = 48;
  const std::int64_t calls = op.kind == LayerOp::Kind::kMatmul ? op.kernels / op.parts : op.kernels;
  return calls * host_launch + op.further_launches * host_launch * kCounted / kLaunched;
}

Nanoseconds device_waits(const std::vector<HostStep>& steps) {
  Nanoseconds host = 0;
  Nanoseconds device = 0;
  Nanoseconds alone = 0;
  const auto run = [&] {
    for (const HostStep& step : steps) {
      if (step.waits) host = std::max(host, device);
      // The first kernel starts once it is launched; the last one ends its own time after its launch.
      const Nanoseconds first = host + step.host / step.launches;
      host += step.host;
      device = std::max(std::max(device, first) + step.device, host + step.device / step.launches);
      alone += step.device;
    }
  };
  run();
  const Nanoseconds before = device;
  alone = 0;
  run();
  return device - before - alone;
}

}  // namespace debubble
