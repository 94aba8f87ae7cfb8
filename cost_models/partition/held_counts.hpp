// What each device's order holds, in pieces of a microbatch and without sizes: how much memory that is, the cut of the
// layers decides.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/schedule.hpp"

namespace debubble {

// Of one stage, while an op of the device runs.
struct HeldCounts {
  std::int32_t stage = 0;
  std::int32_t activations = 0;
  std::int32_t weight_grads = 0;  // between I and W
  std::int32_t checkpoints = 0;   // of microbatches that are recomputed
  std::int32_t running = 0;       // ops of the stage that run, each with its workspace

  friend auto operator<=>(const HeldCounts&, const HeldCounts&) = default;
};
using HeldTogether = std::vector<HeldCounts>;  // by stage, those of which nothing is held left out

struct DeviceHolds {
  struct States {
    std::int32_t stage = 0;
    bool own = true;  // false: weights, gradients and optimizer are those of another replica on the device
  };
  std::vector<States> stages;
  std::vector<HeldTogether> moments;  // each once, none with no more of everything than another
};

// By device. Nothing is known of orders whose activations leave the device meanwhile (Schedule::copies): empty. What
// has been received and waits, and passes of an output layer that all devices share, are not counted.
[[nodiscard]] std::vector<DeviceHolds> holds_of(const Schedule& schedule);

}  // namespace debubble
