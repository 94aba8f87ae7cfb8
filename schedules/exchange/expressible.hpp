// What the formats of other people have no words for. A schedule that says more than a format can is not written in it:
// read back, it would be another one.
#pragma once

#include <string>

#include "sim/core/schedule.hpp"

namespace debubble {

enum class ExchangeFormat {
  kPytorchTable,  // compute_only and compute_comms: F, B, I, W and pairs, by device
  kNodeList,      // the zero-bubble authors': F, I, W, B and R, with slices
};

// "" when the format can say all of the schedule; otherwise what it cannot, as a clause: "it moves activations ...".
// Replicas that no microbatch runs on are not counted.
[[nodiscard]] std::string not_expressible(const Schedule& schedule, ExchangeFormat format);

}  // namespace debubble
