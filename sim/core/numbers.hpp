// Numbers out of text, on every machine alike: no locale, and neither a blank nor a plus before them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace debubble {

// The whole text as a whole number of 32 or 64 bits; nothing where it is none or does not fit.
template <typename Whole>
[[nodiscard]] std::optional<Whole> read_whole(std::string_view text);
// And within these.
[[nodiscard]] inline std::optional<std::int64_t> read_whole_within(std::string_view text, std::int64_t least,
                                                                   std::int64_t most) {
  const auto value = read_whole<std::int64_t>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}
// From 0.
[[nodiscard]] inline std::optional<std::int64_t> count_of(
    std::string_view text, std::int64_t most = std::numeric_limits<std::int32_t>::max()) {
  return read_whole_within(text, 0, most);
}
// The whole text as a finite number, or nothing.
[[nodiscard]] std::optional<double> number_of(std::string_view text);

// The number that a text begins with, which is then cut off; nothing, and the text as it was, where it begins with none
// or one that does not fit.
template <typename Whole>
[[nodiscard]] std::optional<Whole> take_whole(std::string_view& text, int base = 10);
[[nodiscard]] std::optional<double> take_number(std::string_view& text);

}  // namespace debubble
