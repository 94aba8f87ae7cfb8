#include "sim/analysis/report.hpp"

#include <array>

#include "sim/core/at.hpp"

namespace debubble {

const char* to_string(IdleCause cause) {
  return at(std::array{"fill", "drain", "dependency", "transfer_latency", "transfer_bandwidth", "transfer_contention",
                       "collective", "straggler", "memory_limit", "launch_gap"},
            cause);
}

const char* to_string(MemoryCategory category) {
  return at(std::array{"weights", "gradients", "optimizer", "extra_weights", "activations", "held_for_weight_grad",
                       "received", "comm_buffers", "workspace"},
            category);
}

const char* to_string(Asynchrony::Versions versions) {
  return at(std::array{"latest", "stashed", "per-batch", "predicted"}, versions);
}

Nanoseconds idle_by(const Report& report, IdleCause cause) {
  Nanoseconds sum = 0;
  for (const DeviceReport& device : report.devices) sum += at(device.idle_by_cause, cause);
  return sum;
}

}  // namespace debubble
