// The status of a rank's device (live/stall.hpp) as a message to rank 0, and in words for the SIGTERM report.
#pragma once

#include <string>

#include "live/mpi/message_codec.hpp"
#include "live/stall.hpp"
#include "sim/core/schedule.hpp"

namespace debubble::live {

auto members(Like<Tensor> auto& tensor) {
  auto& [gradient, stage, piece] = tensor;
  return std::tie(gradient, stage, piece);
}

auto members(Like<DeviceStatus> auto& status) {
  auto& [position, waits, kind, tensor, from] = status;
  return std::tie(position, waits, kind, tensor, from);
}

// Throws std::logic_error where it names what the schedule does not have.
void check(const DeviceStatus& status, const Schedule& schedule, std::int32_t device);

// "at 1F2, op 5 of 12 of device 1, waiting for the activation 0F3 of device 0".
[[nodiscard]] std::string place_of(const Schedule& schedule, std::int32_t device, const DeviceStatus& status);

}  // namespace debubble::live
