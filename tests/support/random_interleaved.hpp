// Random programs like interleaved 1F1B: its rows with split backwards, recomputations and swapped neighbours.
#pragma once

#include "tests/support/random_case.hpp"

namespace debubble::testing {

// Complete by construction. Some deadlock where transfers are coupled; some, with swapped neighbours, in any mode.
// `plain`: no recomputations.
[[nodiscard]] Schedule random_interleaved(Dice& dice, bool plain = false);

// Interleaved 1F1B of 2 to 5 devices, 2 or 3 stages each, in 1 to 3 groups of p to 2p microbatches.
[[nodiscard]] Schedule random_groups(Dice& dice);

}  // namespace debubble::testing
