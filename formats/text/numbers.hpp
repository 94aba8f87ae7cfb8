// Small parsers that the flags about variations and changes share. Nothing here depends on the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

// The whole text as a finite number, or nothing.
[[nodiscard]] std::optional<double> number_of(std::string_view text);
// The whole text as a whole number from 0 to `most`, or nothing.
[[nodiscard]] std::optional<std::int64_t> count_of(std::string_view text, std::int64_t most = 2147483647);

// As short as it can be said: 1.25, 0.1, 2.
[[nodiscard]] std::string plain(double number);

// What a duration may be multiplied by. Beyond it a factor is a slip, not a slow device.
inline constexpr double kLeastFactor = 1e-3;
inline constexpr double kLargestFactor = 1e3;
[[nodiscard]] inline bool is_factor(double value) { return value >= kLeastFactor && value <= kLargestFactor; }

}  // namespace debubble
