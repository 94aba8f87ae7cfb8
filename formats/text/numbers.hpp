// What the flags about variations and changes share of numbers.
#pragma once

#include <string>

namespace debubble {

// As short as it can be said: 1.25, 0.1, 2.
[[nodiscard]] std::string plain(double number);

// What a duration may be multiplied by. Beyond it a factor is a slip, not a slow device.
inline constexpr double kLeastFactor = 1e-3;
inline constexpr double kLargestFactor = 1e3;
[[nodiscard]] inline bool is_factor(double value) { return value >= kLeastFactor && value <= kLargestFactor; }

}  // namespace debubble
