// What a result rests on, for the end of a report.
//
//     assumed (--assumptions shows all 8)
//       default  forward 1 ms per device share; backward 2 ms per device share; ...
//
// Without --assumptions those that a user might want to change: defaults and modelled values with an effect. With it
// all of them, word for word, each with where it came from, so that no default passes for a measurement.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/core/assumption.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string assumption_lines(const std::vector<Assumption>& assumptions, const ViewStyle& style);

// The same in at most so many lines, what is left out being counted.
[[nodiscard]] std::string assumption_lines(const std::vector<Assumption>& assumptions, std::size_t most_lines,
                                           const ViewStyle& style);

}  // namespace debubble
