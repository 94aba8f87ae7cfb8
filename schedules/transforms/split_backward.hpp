// split-backward (2BP): every whole backward becomes an input gradient, which the previous stage waits for, and a
// weight gradient, which nobody waits for.
//
//     1f1b, p = 2, m = 3             0F0 0F1 0B0 0F2 0B1 0B2           1F0 1B0 1F1 1B1 1F2 1B2
//     when=end                       0F0 0F1 0I0 0F2 0I1 0I2 0W0 0W1 0W2   ...
//
// Rae, Lee, Richings, 2BP, arXiv 2405.18047.
#pragma once

#include "schedules/transforms/contract.hpp"

namespace debubble {

[[nodiscard]] const TransformEntry& split_backward_entry();

}  // namespace debubble
