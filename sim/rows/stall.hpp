// Stall: where every device of a live run was when nothing moved any more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/op.hpp"

namespace debubble {

// What a device was at when the run stalled.
struct DevicePosition {
  std::int32_t device = 0;
  std::int32_t position = 0;  // in its row; the row's length when it had finished
  Op op;                      // at that position; meaningless when it had finished
  bool finished = false;
  std::string waits_for;  // "the activation 0F3 of device 0, which device 0 has sent"; empty when at work
};

struct Stall {
  std::string cause;  // "deadlock", "a message was lost", "no progress for 10 s", "rank 2 has gone"
  std::vector<DevicePosition> devices;
};

// "d0 is at 0B0 (position 4 of its row) and waits for ...", "d1 has finished its row".
[[nodiscard]] std::string to_string(const DevicePosition& position);

}  // namespace debubble
