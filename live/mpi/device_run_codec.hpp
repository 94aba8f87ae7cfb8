// What a device did in all its iterations, as its rank sends it to rank 0.
#pragma once

#include <functional>
#include <vector>

#include "live/device_runner.hpp"
#include "live/mpi/message_codec.hpp"

namespace debubble {

auto members(live::Like<Op> auto& op) {
  auto& [kind, paired_with_next, stage, microbatch] = op;
  return std::tie(kind, paired_with_next, stage, microbatch);
}

auto members(live::Like<ObservedOp> auto& one) {
  auto& [op, partner, paired, device, begin, end] = one;
  return std::tie(op, partner, paired, device, begin, end);
}

auto members(live::Like<ObservedTransfer> auto& transfer) {
  auto& [op, from_device, to_device, begin, end, latency, bytes] = transfer;
  return std::tie(op, from_device, to_device, begin, end, latency, bytes);
}

}  // namespace debubble

namespace debubble::live {

auto members(Like<DeviceRun> auto& run) {
  auto& [ops, transfers, peak_activation, peak_memory, tensors_checked] = run;
  return std::tie(ops, transfers, peak_activation, peak_memory, tensors_checked);
}

// Converts all times to another clock.
void translate(std::vector<DeviceRun>& runs, const std::function<Nanoseconds(Nanoseconds)>& clock);

}  // namespace debubble::live
