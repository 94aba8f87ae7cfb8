// Quantities as people read them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "formats/text/quantities.hpp"

#include "sim/core/wide.hpp"

namespace debubble {
namespace {

int decimals_for(std::int64_t value, std::int64_t divisor, int significant) {
  if (divisor == 1) return 0;
  int whole_digits = 1;
  for (std::int64_t rest = value / divisor; rest >= 10; rest /= 10) ++whole_digits;
  return std::clamp(significant - whole_digits, 0, significant - 1);
}

}  // namespace

Scale duration_scale(Nanoseconds largest) {
  const Nanoseconds size = std::abs(largest);
  if (size < 1'000) return {"ns", 1, 0};
  // From 999.95 on four digits round up to 1000.0: the next unit says it better.
  if (size < 999'950) return {"us", 1'000, decimals_for(size, 1'000, 4)};
  if (size < 999'950'000) return {"ms", 1'000'000, decimals_for(size, 1'000'000, 4)};
  return {"s", 1'000'000'000, decimals_for(size, 1'000'000'000, 4)};
}

Scale size_scale(Bytes largest) {
  static constexpr std::array<const char*, 5> kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t index = 0;
  Bytes divisor = 1;
  while (index + 1 < kNames.size() && std::abs(largest) / divisor >= 1024) {
    divisor *= 1024;
    ++index;
  }
  return {kNames[index], divisor, decimals_for(std::abs(largest), divisor, 3)};
}

std::string format_scaled(std::int64_t value, const Scale& scale) {
  std::int64_t power = 1;
  for (int i = 0; i < scale.decimals; ++i) power *= 10;
  const WideUnsigned size = static_cast<WideUnsigned>(value < 0 ? -value : value) * static_cast<WideUnsigned>(power);
  const auto divisor = static_cast<WideUnsigned>(scale.divisor);
  const auto rounded = static_cast<std::int64_t>((2 * size + divisor) / (2 * divisor));
  const char* sign = value < 0 && rounded > 0 ? "-" : "";
  if (scale.decimals == 0) return fmt::format("{}{}", sign, rounded);
  return fmt::format("{}{}.{:0{}}", sign, rounded / power, rounded % power, scale.decimals);
}

std::string format_duration(Nanoseconds value) {
  const Scale scale = duration_scale(value);
  return fmt::format("{} {}", format_scaled(value, scale), scale.unit);
}

std::string format_size(Bytes value) {
  const Scale scale = size_scale(value);
  return fmt::format("{} {}", format_scaled(value, scale), scale.unit);
}

std::string format_percent(double ratio) {
  if (!std::isfinite(ratio)) return "unknown";
  return fmt::format("{:.1f} %", ratio * 100);
}

std::string format_duration_exact(Nanoseconds value) {
  Scale scale = duration_scale(value);
  scale.decimals = 0;
  for (std::int64_t rest = scale.divisor; rest > 1; rest /= 10) ++scale.decimals;
  std::string text = format_scaled(value, scale);
  if (scale.decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return fmt::format("{} {}", text, scale.unit);
}

}  // namespace debubble
