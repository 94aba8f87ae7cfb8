// What a device did in all its iterations, as its rank sends it to rank 0.
#pragma once

#include <functional>
#include <vector>

#include "live/device_runner.hpp"
#include "live/mpi/message_codec.hpp"

namespace debubble::live {

void write(MessageWriter& writer, const Op& op);
void write(MessageWriter& writer, const std::vector<DeviceRun>& runs);
[[nodiscard]] std::vector<DeviceRun> read_device_runs(MessageReader& reader);

// Converts all times to another clock.
void translate(std::vector<DeviceRun>& runs, const std::function<Nanoseconds(Nanoseconds)>& clock);

}  // namespace debubble::live
