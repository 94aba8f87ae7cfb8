// Decimal microseconds, as Chrome traces write them, to whole nanoseconds, never through a double: 1695835542514261.123
// has more digits than a double holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/core/units.hpp"

namespace debubble {

// "12", "-0.5", "4458676522690.655", "1e3". Digits finer than a nanosecond round to the nearest, halves away from zero.
// Nothing for what is no JSON number and for what lies beyond 2^62 ns.
[[nodiscard]] std::optional<Nanoseconds> nanoseconds_of_micros(std::string_view number);

// A whole number that fits, with or without a sign; also "7.0" and 1e2. Nothing otherwise.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view number);

}  // namespace debubble
