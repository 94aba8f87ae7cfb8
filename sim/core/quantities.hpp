// Quantities: text with units <-> the integers debubble works with (ns, bytes, bytes per second).
//
//     parse_duration("1.5ms", "--comm")      -> 1500000 ns        format_duration(33000000) -> "33.00 ms"
//     parse_size("76GiB", "--memory")        -> 81604378624 bytes  format_size(4194304)      -> "4.00 MiB"
//     parse_bandwidth("400Gbit/s", "--link") -> 50000000000 B/s    format_percent(0.272727)  -> "27.3 %"
//
// Decimal text is converted exactly, never through a floating point number; what is finer than one nanosecond or byte
// is rounded to the nearest, halves up. Nothing here depends on the locale.
//
// Every parser throws InputError (C011 to C014, C065, docs/errors.md) for empty text, garbage, negative numbers,
// missing or unknown units, and values beyond kLongestDuration / kLargestSize. `place` is what the person typed it into
// ("--comm").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/core/units.hpp"

namespace debubble {

enum class QuantityKind : std::uint8_t { kDuration, kSize, kBandwidth };

// The one table of units. Bandwidths have those of sizes too, per second.
struct QuantityUnit {
  std::string_view name;
  std::int64_t factor;  // ns, bytes or bytes per second
  QuantityKind kind;
};
inline constexpr std::array<QuantityUnit, 28> kQuantityUnits{{
    {"ns", 1, QuantityKind::kDuration},
    {"us", 1'000, QuantityKind::kDuration},
    {"\u00b5s", 1'000, QuantityKind::kDuration},
    {"\u03bcs", 1'000, QuantityKind::kDuration},
    {"ms", 1'000'000, QuantityKind::kDuration},
    {"s", 1'000'000'000, QuantityKind::kDuration},
    {"min", 60'000'000'000, QuantityKind::kDuration},
    {"h", 3'600'000'000'000, QuantityKind::kDuration},
    {"B", 1, QuantityKind::kSize},
    {"kB", 1'000, QuantityKind::kSize},
    {"KB", 1'000, QuantityKind::kSize},
    {"MB", 1'000'000, QuantityKind::kSize},
    {"GB", 1'000'000'000, QuantityKind::kSize},
    {"TB", 1'000'000'000'000, QuantityKind::kSize},
    {"KiB", Bytes{1} << 10, QuantityKind::kSize},
    {"MiB", Bytes{1} << 20, QuantityKind::kSize},
    {"GiB", Bytes{1} << 30, QuantityKind::kSize},
    {"TiB", Bytes{1} << 40, QuantityKind::kSize},
    {"kbit/s", 125, QuantityKind::kBandwidth},
    {"Mbit/s", 125'000, QuantityKind::kBandwidth},
    {"Gbit/s", 125'000'000, QuantityKind::kBandwidth},
    {"Tbit/s", 125'000'000'000, QuantityKind::kBandwidth},
    {"kbps", 125, QuantityKind::kBandwidth},  // small b: bits
    {"Mbps", 125'000, QuantityKind::kBandwidth},
    {"Gbps", 125'000'000, QuantityKind::kBandwidth},
    {"Tbps", 125'000'000'000, QuantityKind::kBandwidth},
    {"GBps", 1'000'000'000, QuantityKind::kBandwidth},
    {"Gb/s", 125'000'000, QuantityKind::kBandwidth},
}};

// What one of it is in ns, bytes or bytes per second; nothing where the kind has no such unit.
[[nodiscard]] constexpr std::optional<std::int64_t> unit_factor(QuantityKind kind, std::string_view name) {
  for (const QuantityUnit& unit : kQuantityUnits) {
    if (unit.kind == kind && unit.name == name) return unit.factor;
  }
  if (kind != QuantityKind::kBandwidth || !name.ends_with("/s")) return std::nullopt;
  return unit_factor(QuantityKind::kSize, name.substr(0, name.size() - 2));
}
// Of whatever kind.
[[nodiscard]] constexpr std::optional<std::int64_t> unit_factor(std::string_view name) {
  for (const QuantityKind kind : {QuantityKind::kDuration, QuantityKind::kSize, QuantityKind::kBandwidth}) {
    if (const auto factor = unit_factor(kind, name)) return factor;
  }
  return std::nullopt;
}

// What a number without a unit means: nothing, or toy units (1 = 1 ms, 1 = 1 MiB).
enum class BareNumber : std::uint8_t { kRefused, kToyUnits };

// Blanks may precede the unit. Returns nanoseconds.
[[nodiscard]] Nanoseconds parse_duration(std::string_view text, std::string_view place,
                                         BareNumber bare = BareNumber::kRefused);

// Returns bytes.
[[nodiscard]] Bytes parse_size(std::string_view text, std::string_view place, BareNumber bare = BareNumber::kRefused);

// Returns bytes per second; zero is refused, since Topology takes it for "unlimited".
[[nodiscard]] std::int64_t parse_bandwidth(std::string_view text, std::string_view place);

// For readers with messages of their own: "1.5 ms" as "1.5" and "ms", either of which may be missing or wrong.
struct QuantityText {
  std::string_view number;
  std::string_view unit;
};
[[nodiscard]] QuantityText split_quantity(std::string_view text);

enum class Rounding : std::uint8_t { kNearest, kDown, kUp };  // to the nearest: halves up

// Digits with at most one point, times `factor`. Nothing for other text; what is beyond 2^62 is 2^62.
[[nodiscard]] std::optional<std::int64_t> decimal_times(std::string_view decimal, std::int64_t factor,
                                                        Rounding rounding = Rounding::kNearest);

// Microseconds as Chrome traces write them, to whole nanoseconds: 1695835542514261.123 has more digits than a double
// holds. "12", "-0.5", "1e3": any JSON number; halves are rounded away from zero. Nothing for what is no JSON number
// and for what lies beyond 2^62 ns.
[[nodiscard]] std::optional<Nanoseconds> nanoseconds_of_micros(std::string_view number);

// A JSON number that is whole and fits, with or without a sign; also "7.0" and 1e2. Nothing otherwise.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view number);

// How a column of times or sizes is shown: one unit and one number of decimals for all of them.
struct Scale {
  const char* unit = "";
  std::int64_t divisor = 1;  // ns or bytes per unit
  int decimals = 0;
};

// A unit of the table: scale_of("ms", 2).
[[nodiscard]] constexpr Scale scale_of(const char* unit, int decimals = 0) {
  const auto factor = unit_factor(unit);
  if (!factor) throw std::logic_error("no unit of the table");
  return {unit, *factor, decimals};
}
// The scale that shows `largest` with four significant digits in ns, us, ms or s.
[[nodiscard]] Scale duration_scale(Nanoseconds largest);
// The scale that shows `largest` with three significant digits in B, KiB, MiB, GiB or TiB.
[[nodiscard]] Scale size_scale(Bytes largest);
// With as many decimals as show a whole number of a power of ten exactly.
[[nodiscard]] Scale exact_scale(Scale scale);

// The number alone, without its unit: format_scaled(33000000, ms) -> "33.00".
[[nodiscard]] std::string format_scaled(std::int64_t value, const Scale& scale, Rounding rounding = Rounding::kNearest);
// Without zeros at the end: "33".
[[nodiscard]] std::string format_short(std::int64_t value, const Scale& scale, Rounding rounding = Rounding::kNearest);
[[nodiscard]] std::string format_with_unit(std::int64_t value, const Scale& scale);  // "33.00 ms"

[[nodiscard]] std::string format_duration(Nanoseconds value);  // "33.00 ms", "601.0 us", "250 ns", "0 ns"
[[nodiscard]] std::string format_size(Bytes value);            // "4.00 MiB", "71.2 GiB", "512 B"
// The shortest exact text of a toy number: 1500000 ns -> "1.5 ms". For echoing what a person gave.
[[nodiscard]] std::string format_duration_exact(Nanoseconds value);
// "27.3 %"; "unknown" when not a finite number
[[nodiscard]] std::string format_percent(double ratio);
[[nodiscard]] std::string format_percent_to(double ratio, int decimals);
// "+2.1 %", "-0.4 pp"
[[nodiscard]] std::string format_change(double ratio, const char* unit = "%", int decimals = 1);
// As short as it can be said: 1.25, 0.1, 2.
[[nodiscard]] std::string plain(double number);

}  // namespace debubble
