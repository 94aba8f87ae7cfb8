// What a device did in all its iterations, as its rank tells rank 0.
#pragma once

#include <functional>
#include <vector>

#include "live/device_runner.hpp"
#include "live/mpi/letter.hpp"

namespace debubble::live {

void write(LetterWriter& letter, const std::vector<DeviceRun>& runs);
[[nodiscard]] std::vector<DeviceRun> read_device_runs(LetterReader& letter);

// All its times, put on another clock.
void translate(std::vector<DeviceRun>& runs, const std::function<Nanoseconds(Nanoseconds)>& clock);

}  // namespace debubble::live
