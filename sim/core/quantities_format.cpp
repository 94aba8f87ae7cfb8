// Quantities as people read them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "sim/core/quantities.hpp"
#include "sim/core/wide.hpp"

namespace debubble {
namespace {

Scale significant(Scale scale, std::int64_t value, int digits) {
  if (scale.divisor == 1) return scale;
  int whole_digits = 1;
  for (std::int64_t rest = value / scale.divisor; rest >= 10; rest /= 10) ++whole_digits;
  scale.decimals = std::clamp(digits - whole_digits, 0, digits - 1);
  return scale;
}

template <typename... Form>
std::string real_text(double number, Form... form) {
  std::array<char, 400> text{};  // the largest number has 309 digits
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number, form...).ptr};
}

}  // namespace

Scale duration_scale(Nanoseconds largest) {
  // From 999.95 on four digits round up to 1000.0: the next unit says it better.
  static constexpr std::array<Scale, 4> kScales{scale_of("ns"), scale_of("us"), scale_of("ms"), scale_of("s")};
  const Nanoseconds size = std::abs(largest);
  std::size_t k = size < 1'000 ? 0 : 1;
  while (k > 0 && k + 1 < kScales.size() && size >= kScales[k].divisor / 100 * 99'995) ++k;
  return significant(kScales[k], size, 4);
}

Scale size_scale(Bytes largest) {
  static constexpr std::array<Scale, 5> kScales{scale_of("B"), scale_of("KiB"), scale_of("MiB"), scale_of("GiB"),
                                                scale_of("TiB")};
  const Bytes size = std::abs(largest);
  std::size_t k = 0;
  while (k + 1 < kScales.size() && size >= kScales[k + 1].divisor) ++k;
  return significant(kScales[k], size, 3);
}

Scale exact_scale(Scale scale) {
  scale.decimals = 0;
  for (std::int64_t rest = scale.divisor; rest > 1; rest /= 10) ++scale.decimals;
  return scale;
}

std::string format_scaled(std::int64_t value, const Scale& scale, Rounding rounding) {
  std::int64_t power = 1;
  for (int i = 0; i < scale.decimals; ++i) power *= 10;
  WideUnsigned size = static_cast<WideUnsigned>(value < 0 ? -value : value) * static_cast<WideUnsigned>(power);
  const auto divisor = static_cast<WideUnsigned>(scale.divisor);
  if (rounding == Rounding::kNearest) size += divisor / 2;
  if (rounding == Rounding::kUp) size += divisor - 1;
  const auto rounded = static_cast<std::int64_t>(size / divisor);
  std::string text = (value < 0 && rounded > 0 ? "-" : "") + std::to_string(rounded / power);
  if (scale.decimals > 0) text += "." + std::to_string(power + rounded % power).substr(1);
  return text;
}

std::string format_short(std::int64_t value, const Scale& scale, Rounding rounding) {
  std::string text = format_scaled(value, scale, rounding);
  if (scale.decimals == 0) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string format_with_unit(std::int64_t value, const Scale& scale) {
  return format_scaled(value, scale) + " " + scale.unit;
}

std::string format_duration(Nanoseconds value) { return format_with_unit(value, duration_scale(value)); }

std::string format_size(Bytes value) { return format_with_unit(value, size_scale(value)); }

std::string format_duration_exact(Nanoseconds value) {
  const Scale scale = exact_scale(duration_scale(value));
  return format_short(value, scale) + " " + scale.unit;
}

std::string format_percent(double ratio) { return format_percent_to(ratio, 1); }

std::string format_percent_to(double ratio, int decimals) {
  if (!std::isfinite(ratio)) return "unknown";
  return real_text(ratio * 100, std::chars_format::fixed, decimals) + " %";
}

std::string format_change(double ratio, const char* unit, int decimals) {
  return (std::signbit(ratio) ? "" : "+") + real_text(ratio * 100, std::chars_format::fixed, decimals) + " " + unit;
}

std::string plain(double number) {
  const double size = std::abs(number);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  return real_text(number, fixed ? std::chars_format::fixed : std::chars_format::scientific);
}

}  // namespace debubble
