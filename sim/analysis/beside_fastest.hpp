// A modelled run beside the fastest of those that it is compared with: by how much it must be slower to be told apart.
#pragma once

namespace debubble {

// Shares of the fastest one's time for the same work.
struct BesideFastest {
  double slower = 0;
  double needed = 0;  // what the model's errors and a measurement's repeats leave open

  [[nodiscard]] bool told_apart() const { return slower > needed; }
};

}  // namespace debubble
