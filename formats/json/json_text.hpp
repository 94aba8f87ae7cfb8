// JSON by hand, for exporters that write millions of events and build no tree.
//
// Numbers come from integers, so that they are exact and look the same everywhere: 1234567 ns is 1234.567 us.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/units.hpp"

namespace debubble {

// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, for JSON must be UTF-8.
void append_json_string(std::string& out, std::string_view text);

// Appends the shortest number that reads back as `value`, or null for infinities and NaN.
void append_json_number(std::string& out, double value);

// Appends microseconds with three decimals: "1234.567". Exact.
void append_microseconds(std::string& out, Nanoseconds time);

// Appends MiB with up to six decimals and no trailing zeros: "1.5". Rounded half up to one millionth of a MiB (1 byte).
void append_mebibytes(std::string& out, Bytes bytes);

}  // namespace debubble
