// The line on which each scenario of a suite begins, for annotations there.
#pragma once

#include <string_view>
#include <vector>

namespace debubble {

// The lines, counted from 1, on which the items of the top-level array "scenarios" begin, as far as they are objects.
// Means something for valid JSON only.
[[nodiscard]] std::vector<int> scenario_lines(std::string_view text);

}  // namespace debubble
