// Clocks: how far the clocks of several GPUs are apart, found at one moment. All watch one word of the host's memory,
// and read their clocks once it changes.
#pragma once

#include <vector>

#include "live/cuda/bench.hpp"

namespace debubble::live {

struct GpuClockReading {
  Nanoseconds at = 0;                // on device 0's clock
  std::vector<Nanoseconds> offsets;  // what to add to each device's times to get device 0's; empty: one clock
  Nanoseconds residual = 0;          // by how much two may still differ
};

// Throws UnavailableError U027 when a GPU fails, or stops.
[[nodiscard]] GpuClockReading read_clocks(const Lanes& lanes, Executor& executor, Bench& bench);

// Between two readings clocks drift evenly. Either may be empty; both are: one clock.
class ClockFit {
 public:
  ClockFit() = default;
  ClockFit(GpuClockReading before, GpuClockReading after) : before_(std::move(before)), after_(std::move(after)) {}
  // A device's time on device 0's clock.
  [[nodiscard]] Nanoseconds to_common(std::int32_t device, Nanoseconds time) const;

 private:
  GpuClockReading before_;
  GpuClockReading after_;
};

}  // namespace debubble::live
