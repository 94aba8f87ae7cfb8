// What toml++ 3.3 and 3.4 take for granted of a text without looking, checked before they see it.
//
// Invariant: up to the first character that makes a text no TOML, the scanner is where the parser is: in a string, in a
// comment, in the header of a table, or between words with the same brackets open. Behind that character it may see
// something else, for the parser has given up there. What it refuses is no TOML either, but for three bounds: numbers
// of more than 50 characters, keys and brackets nested more than kDeepestNesting deep, and a line that a backslash
// joins to the one before and that begins with a character outside of ASCII.
#pragma once

#include <optional>
#include <string_view>

namespace debubble {

struct TomlFault {
  std::size_t line = 1;
  const char* code = "P001";
  const char* what = "";
  const char* help = "";
};

// `text` is UTF-8.
[[nodiscard]] std::optional<TomlFault> toml_fault(std::string_view text);

}  // namespace debubble
