// Random programs like interleaved 1F1B: its rows with split backwards, recomputations and swapped neighbours.
#pragma once

#include "tests/support/random_case.hpp"

namespace debubble::testing {

// Complete by construction. Some deadlock where transfers are coupled; some, with swapped neighbours, in any mode.
// `plain`: no recomputations.
[[nodiscard]] Schedule random_interleaved(Dice& dice, bool plain = false);

}  // namespace debubble::testing
