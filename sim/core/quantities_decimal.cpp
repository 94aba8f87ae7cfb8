// Decimal text, taken exactly.
#include <algorithm>
#include <cstddef>

#include "sim/core/quantities.hpp"
#include "sim/core/wide.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kBeyond = std::int64_t{1} << 62;

// Its value is 0.DIGITS x 10^point, DIGITS being whole and fraction in one.
struct Decimal {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  int exponent = 0;

  [[nodiscard]] unsigned digit(std::int64_t index) const {
    if (index < 0 || index >= digits()) return 0;
    const auto at = static_cast<std::size_t>(index);
    return static_cast<unsigned>((at < whole.size() ? whole[at] : fraction[at - whole.size()]) - '0');
  }
  [[nodiscard]] std::int64_t digits() const { return static_cast<std::int64_t>(whole.size() + fraction.size()); }
  [[nodiscard]] std::int64_t point() const { return static_cast<std::int64_t>(whole.size()) + exponent; }
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

std::optional<Decimal> json_decimal(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \n\r\t") + 1);
  Decimal result;
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

// Without its sign. Of the fraction 18 digits count: with the largest unit what follows is worth less than a millionth
// of a nanosecond or byte. Whole and fraction are scaled apart, since together they could exceed 128 bits.
std::int64_t magnitude(const Decimal& decimal, std::int64_t factor, Rounding rounding) {
  const std::int64_t point = decimal.point();
  const std::int64_t digits = decimal.digits();
  std::uint64_t whole = 0;
  for (std::int64_t k = 0; k < point && (whole != 0 || k < digits); ++k) {  // not all of 0e999999
    if (whole > static_cast<std::uint64_t>(kBeyond / 10)) return kBeyond;
    whole = whole * 10 + decimal.digit(k);
  }
  std::uint64_t fraction = 0;
  std::uint64_t denominator = 1;
  for (std::int64_t k = point; k < std::min(digits, point + 18); ++k) {
    fraction = fraction * 10 + decimal.digit(k);
    denominator *= 10;
  }
  WideUnsigned rest = static_cast<WideUnsigned>(fraction) * static_cast<WideUnsigned>(factor);
  if (rounding == Rounding::kNearest) rest += denominator / 2;
  if (rounding == Rounding::kUp) rest += denominator - 1;
  const WideUnsigned value = static_cast<WideUnsigned>(whole) * static_cast<WideUnsigned>(factor) + rest / denominator;
  return static_cast<std::int64_t>(std::min(value, static_cast<WideUnsigned>(kBeyond)));
}

std::optional<std::int64_t> nearest_with_sign(const Decimal& decimal, std::int64_t factor) {
  const std::int64_t value = magnitude(decimal, factor, Rounding::kNearest);
  if (value == kBeyond) return std::nullopt;
  return decimal.negative ? -value : value;
}

}  // namespace

std::optional<std::int64_t> decimal_times(std::string_view decimal, std::int64_t factor, Rounding rounding) {
  Decimal parts;
  parts.whole = take_digits(decimal);
  if (take_character(decimal, '.')) parts.fraction = take_digits(decimal);
  if (!decimal.empty() || parts.digits() == 0) return std::nullopt;
  return magnitude(parts, factor, rounding);
}

std::optional<Nanoseconds> nanoseconds_of_micros(std::string_view number) {
  const std::optional<Decimal> decimal = json_decimal(number);
  return decimal ? nearest_with_sign(*decimal, *unit_factor("us")) : std::nullopt;
}

std::optional<std::int64_t> whole_number(std::string_view number) {
  const std::optional<Decimal> decimal = json_decimal(number);
  if (!decimal) return std::nullopt;
  for (std::int64_t k = std::max<std::int64_t>(decimal->point(), 0); k < decimal->digits(); ++k) {
    if (decimal->digit(k) != 0) return std::nullopt;
  }
  return nearest_with_sign(*decimal, 1);
}

}  // namespace debubble
