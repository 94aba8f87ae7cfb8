#include "formats/text/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/wide.hpp"

namespace debubble {
namespace {

struct QuantityUnit {
  std::string_view name;
  std::int64_t factor;  // ns, bytes or bytes per second
};

constexpr std::array<QuantityUnit, 8> kDurationUnits = {{{"ns", 1},
                                                         {"us", 1'000},
                                                         {"\u00b5s", 1'000},
                                                         {"\u03bcs", 1'000},
                                                         {"ms", 1'000'000},
                                                         {"s", 1'000'000'000},
                                                         {"min", 60'000'000'000},
                                                         {"h", 3'600'000'000'000}}};

constexpr std::array<QuantityUnit, 10> kSizeUnits = {{{"B", 1},
                                                      {"kB", 1'000},
                                                      {"KB", 1'000},
                                                      {"MB", 1'000'000},
                                                      {"GB", 1'000'000'000},
                                                      {"TB", 1'000'000'000'000},
                                                      {"KiB", std::int64_t{1} << 10},
                                                      {"MiB", std::int64_t{1} << 20},
                                                      {"GiB", std::int64_t{1} << 30},
                                                      {"TiB", std::int64_t{1} << 40}}};

constexpr std::array<QuantityUnit, 20> kBandwidthUnits = {{{"B/s", 1},
                                                           {"kB/s", 1'000},
                                                           {"KB/s", 1'000},
                                                           {"MB/s", 1'000'000},
                                                           {"GB/s", 1'000'000'000},
                                                           {"TB/s", 1'000'000'000'000},
                                                           {"KiB/s", std::int64_t{1} << 10},
                                                           {"MiB/s", std::int64_t{1} << 20},
                                                           {"GiB/s", std::int64_t{1} << 30},
                                                           {"TiB/s", std::int64_t{1} << 40},
                                                           {"kbit/s", 125},
                                                           {"Mbit/s", 125'000},
                                                           {"Gbit/s", 125'000'000},
                                                           {"Tbit/s", 125'000'000'000},
                                                           {"kbps", 125},  // small b: bits
                                                           {"Mbps", 125'000},
                                                           {"Gbps", 125'000'000},
                                                           {"Tbps", 125'000'000'000},
                                                           {"GBps", 1'000'000'000},
                                                           {"Gb/s", 125'000'000}}};

bool is_unit(std::string_view name) {
  const auto named = [name](const QuantityUnit& unit) { return unit.name == name; };
  return std::any_of(kDurationUnits.begin(), kDurationUnits.end(), named) ||
         std::any_of(kSizeUnits.begin(), kSizeUnits.end(), named) ||
         std::any_of(kBandwidthUnits.begin(), kBandwidthUnits.end(), named);
}

// What one family of quantities accepts.
struct UnitFamily {
  std::string_view noun;
  std::string_view example;  // for the help line
  std::span<const QuantityUnit> units;
  std::int64_t bare_factor;  // of a number without unit; 0: refused
  std::int64_t largest;
};

class QuantityParser {
 public:
  QuantityParser(const UnitFamily& family, std::string_view text, std::string_view place)
      : family_(family), text_(text), place_(place) {}

  std::int64_t run() const {
    const std::string_view text = trim(text_);
    if (text.empty()) fail("C065", fmt::format("the {} is empty", family_.noun));
    if (text.front() == '-') fail("C012", fmt::format("a {} cannot be negative: '{}'", family_.noun, text_));
    const std::size_t number_end = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string_view number = text.substr(0, number_end);
    check_number(number);
    return scale(number, factor_of(trim(text.substr(number_end))));
  }

 private:
  static std::string_view trim(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
  }

  void check_number(std::string_view number) const {
    const bool digits = number.find_first_not_of('.') != std::string_view::npos;
    if (!digits || std::count(number.begin(), number.end(), '.') > 1) {
      fail("C011", fmt::format("'{}' is not a {}", text_, family_.noun));
    }
  }

  std::int64_t factor_of(std::string_view name) const {
    if (name.empty()) {
      if (family_.bare_factor == 0) fail("C014", fmt::format("'{}' has no unit", text_));
      return family_.bare_factor;
    }
    for (const QuantityUnit& unit : family_.units) {
      if (unit.name == name) return unit.factor;
    }
    unknown_unit(name);
  }

  [[noreturn]] void unknown_unit(std::string_view name) const {
    std::vector<std::string> names;
    for (const QuantityUnit& unit : family_.units) names.emplace_back(unit.name);
    const std::string meant = is_unit(name) ? "" : closest_name(name, names);  // ms is no misspelt MB
    const std::string hint = meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant);
    fail("C014", fmt::format("'{}' is not a unit of a {}{}", name, family_.noun, hint));
  }

  // The exact decimal times `factor`, rounded to the nearest integer, halves up. Digits after the 18th of the fraction
  // are dropped: with the largest factor they are worth less than a millionth of a nanosecond or byte.
  std::int64_t scale(std::string_view number, std::int64_t factor) const {
    const std::size_t point = std::min(number.find('.'), number.size());
    WideUnsigned whole = 0;
    for (const char digit : number.substr(0, point)) {
      whole = whole * 10 + static_cast<WideUnsigned>(digit - '0');
      if (whole > static_cast<WideUnsigned>(family_.largest)) too_large();
    }
    const std::string_view fraction = point < number.size() ? number.substr(point + 1, 18) : std::string_view{};
    WideUnsigned numerator = whole;
    WideUnsigned denominator = 1;
    for (const char digit : fraction) {
      numerator = numerator * 10 + static_cast<WideUnsigned>(digit - '0');
      denominator *= 10;
    }
    // whole < 2^53 and 10^18 < 2^60 and factor < 2^42 could exceed 128 bits together, so scale the parts apart.
    const WideUnsigned whole_part = whole * static_cast<WideUnsigned>(factor);
    const WideUnsigned rest = (numerator - whole * denominator) * static_cast<WideUnsigned>(factor);
    const WideUnsigned value = whole_part + (2 * rest + denominator) / (2 * denominator);
    if (value > static_cast<WideUnsigned>(family_.largest)) too_large();
    return static_cast<std::int64_t>(value);
  }

  [[noreturn]] void too_large() const {
    const std::string limit = family_.units.data() == kDurationUnits.data() ? "52 days" : "4 PiB";
    fail("C012", fmt::format("the {} '{}' is larger than debubble can add up ({})", family_.noun, text_, limit));
  }

  [[noreturn]] void fail(std::string code, std::string message) const {
    throw InputError(Diagnostic{std::move(code), std::string(place_), std::move(message), help()});
  }

  std::string help() const {
    const std::string_view bare = family_.bare_factor == 0                       ? ""
                                  : family_.noun == std::string_view("duration") ? ", or 1.5 for 1.5 ms"
                                                                                 : ", or 4 for 4 MiB";
    return fmt::format("write it like {}{}", family_.example, bare);
  }

  const UnitFamily& family_;
  std::string_view text_;
  std::string_view place_;
};

}  // namespace

Nanoseconds parse_duration(std::string_view text, std::string_view place, BareNumber bare) {
  const UnitFamily family{"duration", "1.5ms, 601us or 2s", kDurationUnits,
                          bare == BareNumber::kToyUnits ? kNanosecondsPerMillisecond : 0, kLongestDuration};
  return QuantityParser(family, text, place).run();
}

Bytes parse_size(std::string_view text, std::string_view place, BareNumber bare) {
  const UnitFamily family{"size", "76GiB, 352.1MB or 80GB", kSizeUnits, bare == BareNumber::kToyUnits ? kMebibyte : 0,
                          kLargestSize};
  return QuantityParser(family, text, place).run();
}

std::int64_t parse_bandwidth(std::string_view text, std::string_view place) {
  const UnitFamily family{"bandwidth", "50GB/s, 600GiB/s or 400Gbit/s", kBandwidthUnits, 0, kLargestSize};
  const std::int64_t value = QuantityParser(family, text, place).run();
  if (value == 0) {
    throw InputError(Diagnostic{"C012", std::string(place), "the bandwidth must not be zero",
                                "leave it out for links of unlimited bandwidth"});
  }
  return value;
}

}  // namespace debubble
