// What-ifs for people: base against changed, side by side, within the terminal's width.
//
//     step time    33.00 ms   39.00 ms   +6.00 ms   +18.2 %
//     ...
//     idle, all devices    base   changed   change
//     straggler            0.00     18.00   +18.00
#pragma once

#include <string>

#include "studies/whatif/result.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string whatif_view(const WhatIfResult& result, const ViewStyle& style);

// The parts about seeds and sensitivity (whatif_parts.cpp).
[[nodiscard]] std::string seeds_view(const WhatIfResult& result, const ViewStyle& style);
[[nodiscard]] std::string sensitivity_view(const WhatIfResult& result, const ViewStyle& style);

// "+6.00 ms", "-0.50 ms", "0 ns".
[[nodiscard]] std::string duration_change(Nanoseconds value);
// "+18.2 %".
[[nodiscard]] std::string percent_change(double by);

}  // namespace debubble
