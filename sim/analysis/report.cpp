#include "sim/analysis/report.hpp"

#include "sim/core/at.hpp"

namespace debubble {

const char* to_string(IdleCause cause) {
  switch (cause) {
    case IdleCause::kFill:
      return "fill";
    case IdleCause::kDrain:
      return "drain";
    case IdleCause::kDependency:
      return "dependency";
    case IdleCause::kTransferLatency:
      return "transfer_latency";
    case IdleCause::kTransferBandwidth:
      return "transfer_bandwidth";
    case IdleCause::kContention:
      return "transfer_contention";
    case IdleCause::kCollective:
      return "collective";
    case IdleCause::kStraggler:
      return "straggler";
    case IdleCause::kMemoryLimit:
      return "memory_limit";
    case IdleCause::kLaunchGap:
      return "launch_gap";
  }
  return "fill";
}

const char* to_string(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::kWeights:
      return "weights";
    case MemoryCategory::kGradients:
      return "gradients";
    case MemoryCategory::kOptimizer:
      return "optimizer";
    case MemoryCategory::kExtraWeights:
      return "extra_weights";
    case MemoryCategory::kActivations:
      return "activations";
    case MemoryCategory::kHeldForWeightGrad:
      return "held_for_weight_grad";
    case MemoryCategory::kReceived:
      return "received";
    case MemoryCategory::kCommBuffers:
      return "comm_buffers";
    case MemoryCategory::kWorkspace:
      return "workspace";
  }
  return "weights";
}

const char* to_string(Asynchrony::Versions versions) {
  switch (versions) {
    case Asynchrony::Versions::kLatest:
      break;
    case Asynchrony::Versions::kStashed:
      return "stashed";
    case Asynchrony::Versions::kPerBatch:
      return "per-batch";
    case Asynchrony::Versions::kPredicted:
      return "predicted";
  }
  return "latest";
}

Nanoseconds idle_by(const Report& report, IdleCause cause) {
  Nanoseconds sum = 0;
  for (const DeviceReport& device : report.devices) sum += at(device.idle_by_cause, cause);
  return sum;
}

}  // namespace debubble
