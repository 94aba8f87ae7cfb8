// A modelled run beside the fastest of those that it is compared with, of those that flush where any does: by how much
// it must be slower, or faster, to be told apart.
#pragma once

#include <cmath>

namespace debubble {

// Shares of the fastest one's time for the same work.
struct BesideFastest {
  double slower = 0;  // below 0: an asynchronous run that is faster
  double needed = 0;  // what the model's errors and a measurement's repeats leave open

  [[nodiscard]] bool told_apart() const { return std::abs(slower) > needed; }
};

}  // namespace debubble
