// Deadlock: the cycle of devices that wait for each other, as a result and not as an error of ours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/op.hpp"

namespace debubble {

struct Deadlock {
  // `device`, at position `position` of its row, cannot start `op` because it waits for `waits_for`, which the next
  // entry's device has not reached. The last entry waits for the first one's device.
  struct Wait {
    std::int32_t device = 0;
    std::int32_t position = 0;
    Op op;
    Op waits_for;
  };
  std::vector<Wait> cycle;
};

// "device 0 waits at 0B0 (position 4) for 1B0 on device 1; device 1 waits at ..."
[[nodiscard]] std::string to_string(const Deadlock& deadlock);

}  // namespace debubble
