// What a run that got stuck reports: the op each device is at, what it waits for, and whether that can still arrive.
#pragma once

#include <cstdint>
#include <vector>

#include "live/job.hpp"
#include "live/live.hpp"
#include "live/transport.hpp"

namespace debubble::live {

// One device, as its transport knows it.
struct DeviceStatus {
  std::int32_t position = 0;  // as passed to Transport::at: in its row; -1: it has finished
  bool waits = false;         // for a message; false: at work, finished, or at a barrier
  Message::Kind kind = Message::Kind::kPayload;
  Tensor tensor;
  std::int32_t from = 0;
};

// The cause is "a message was lost" when some device waits for what its sender has
// passed, else "deadlock"; a watchdog that knows better puts its own cause in its place.
[[nodiscard]] Stall explain_stall(const Job& job, const std::vector<DeviceStatus>& devices);

}  // namespace debubble::live
