// What every simulated Timeline promises (sim/core/timeline.hpp), and whether two are the same.
#pragma once

#include <string>

#include "sim/core/timeline.hpp"

namespace debubble::testing {

// The first thing that does not begin where its gate ends, overlaps another on its lane, or has parts that do not fit,
// in words; "" when all is well.
[[nodiscard]] std::string broken_timeline(const Timeline& timeline);

// The first span, transfer, copy or collective in which they differ, in words; "" when there is none.
[[nodiscard]] std::string difference(const Timeline& one, const Timeline& other);

}  // namespace debubble::testing
