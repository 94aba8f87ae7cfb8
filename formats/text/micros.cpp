#include "formats/text/micros.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kLargestMicros = std::int64_t{1} << 62;

// A JSON number taken apart; its value is 0.DIGITS x 10^point, DIGITS being whole and fraction in one.
struct MicrosDecimal {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  int exponent = 0;

  [[nodiscard]] char digit(std::int64_t index) const {
    const auto at = static_cast<std::size_t>(index);
    if (at < whole.size()) return whole[at];
    return at - whole.size() < fraction.size() ? fraction[at - whole.size()] : '0';
  }
  [[nodiscard]] std::int64_t digits() const { return static_cast<std::int64_t>(whole.size() + fraction.size()); }
};

std::string_view take_digits(std::string_view& text) {
  const auto* end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

bool take_character(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

bool take_exponent(std::string_view& text, int& exponent) {
  const bool negative = take_character(text, '-');
  if (!negative) take_character(text, '+');
  const std::string_view digits = take_digits(text);
  constexpr int kMost = 1'000'000;  // beyond any number that fits, and far from overflow
  for (const char digit : digits) exponent = std::min(kMost, exponent * 10 + (digit - '0'));
  if (negative) exponent = -exponent;
  return !digits.empty();
}

std::optional<MicrosDecimal> parse_decimal(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  MicrosDecimal result;
  result.negative = take_character(text, '-');
  result.whole = take_digits(text);
  if (result.whole.empty() || (result.whole.size() > 1 && result.whole.front() == '0')) return std::nullopt;
  if (take_character(text, '.')) {
    result.fraction = take_digits(text);
    if (result.fraction.empty()) return std::nullopt;
  }
  if (take_character(text, 'e') || take_character(text, 'E')) {
    if (!take_exponent(text, result.exponent)) return std::nullopt;
  }
  return text.empty() ? std::optional(result) : std::nullopt;
}

// The digits before position `point`, as a number without sign.
std::optional<std::int64_t> leading(const MicrosDecimal& decimal, std::int64_t point) {
  std::int64_t value = 0;
  for (std::int64_t k = 0; k < point; ++k) {
    if (value == 0 && k >= decimal.digits()) break;  // 0e999999
    if (value > (kLargestMicros - 9) / 10) return std::nullopt;
    value = value * 10 + (decimal.digit(k) - '0');
  }
  return value;
}

}  // namespace

std::optional<Nanoseconds> nanoseconds_of_micros(std::string_view number) {
  const std::optional<MicrosDecimal> decimal = parse_decimal(number);
  if (!decimal) return std::nullopt;
  constexpr int kMicrosToNanos = 3;  // digits
  const std::int64_t point = static_cast<std::int64_t>(decimal->whole.size()) + decimal->exponent + kMicrosToNanos;
  std::optional<std::int64_t> value = leading(*decimal, point);
  if (!value) return std::nullopt;
  if (point >= 0 && point < decimal->digits() && decimal->digit(point) >= '5') ++*value;
  return decimal->negative ? -*value : *value;
}

std::optional<std::int64_t> whole_number(std::string_view number) {
  const std::optional<MicrosDecimal> decimal = parse_decimal(number);
  if (!decimal) return std::nullopt;
  const std::int64_t point = static_cast<std::int64_t>(decimal->whole.size()) + decimal->exponent;
  for (std::int64_t k = std::max<std::int64_t>(point, 0); k < decimal->digits(); ++k) {
    if (decimal->digit(k) != '0') return std::nullopt;
  }
  const std::optional<std::int64_t> value = leading(*decimal, point);
  if (!value) return std::nullopt;
  return decimal->negative ? -*value : *value;
}

}  // namespace debubble
