#include "sim/rows/deadlock.hpp"

#include <cstddef>

namespace debubble {

std::string to_string(const Deadlock& deadlock) {
  std::string text;
  for (std::size_t i = 0; i < deadlock.cycle.size(); ++i) {
    const Deadlock::Wait& wait = deadlock.cycle[i];
    const Deadlock::Wait& next = deadlock.cycle[(i + 1) % deadlock.cycle.size()];
    if (!text.empty()) text += "; ";
    text += "device " + std::to_string(wait.device) + " waits at " + to_string(wait.op) + " (position " +
            std::to_string(wait.position) + ") for " + to_string(wait.waits_for) + " on device " +
            std::to_string(next.device);
  }
  return text;
}

}  // namespace debubble
