#include "sim/rows/stall.hpp"

namespace debubble {

std::string to_string(const DevicePosition& position) {
  const std::string device = "d" + std::to_string(position.device);
  if (position.finished) return device + " has finished its row";
  const std::string where =
      device + " is at " + to_string(position.op) + " (position " + std::to_string(position.position) + " of its row)";
  return position.waits_for.empty() ? where + ", at work" : where + " and waits for " + position.waits_for;
}

}  // namespace debubble
