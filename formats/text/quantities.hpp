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

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/core/units.hpp"

namespace debubble {

// What a number without a unit means: nothing, or toy units (1 = 1 ms, 1 = 1 MiB).
enum class BareNumber { kRefused, kToyUnits };

// Units ns, us, ms, s, min, h; blanks may precede the unit. Returns nanoseconds.
[[nodiscard]] Nanoseconds parse_duration(std::string_view text, std::string_view place,
                                         BareNumber bare = BareNumber::kRefused);

// Units B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024). Returns bytes.
[[nodiscard]] Bytes parse_size(std::string_view text, std::string_view place, BareNumber bare = BareNumber::kRefused);

// A size unit followed by "/s", or kbit/s, Mbit/s, Gbit/s, Tbit/s. Returns bytes per second; zero is refused, since
// Topology takes it for "unlimited".
[[nodiscard]] std::int64_t parse_bandwidth(std::string_view text, std::string_view place);

// How a column of times or sizes is shown: one unit and one number of decimals for all of them.
struct Scale {
  const char* unit = "";
  std::int64_t divisor = 1;  // ns or bytes per unit
  int decimals = 0;
};

// The scale that shows `largest` with four significant digits in ns, us, ms or s.
[[nodiscard]] Scale duration_scale(Nanoseconds largest);
// The scale that shows `largest` with three significant digits in B, KiB, MiB, GiB or TiB.
[[nodiscard]] Scale size_scale(Bytes largest);

// The number alone, without its unit: format_scaled(33000000, ms) -> "33.00". Rounds to nearest, halves up.
[[nodiscard]] std::string format_scaled(std::int64_t value, const Scale& scale);

[[nodiscard]] std::string format_duration(Nanoseconds value);  // "33.00 ms", "601.0 us", "250 ns", "0 ns"
[[nodiscard]] std::string format_size(Bytes value);            // "4.00 MiB", "71.2 GiB", "512 B"
[[nodiscard]] std::string format_percent(double ratio);        // "27.3 %"; "unknown" when not a finite number
// The shortest exact text of a toy number: 1500000 ns -> "1.5 ms". For echoing what a person gave.
[[nodiscard]] std::string format_duration_exact(Nanoseconds value);

}  // namespace debubble
