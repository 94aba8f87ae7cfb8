// Words that messages of every room are made of. Text of files and views is in formats/text.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>

#include "sim/core/units.hpp"

namespace debubble {

// "1 device", "2 devices", "3 microbatches"
template <std::integral Count>
[[nodiscard]] std::string counted(Count count, std::string_view noun) {
  const char* ending = count == 1 ? "" : noun.ends_with("ch") ? "es" : "s";
  return std::to_string(count) + " " + std::string(noun) + ending;
}

// "512 bytes", "24 MiB": rounded down
[[nodiscard]] inline std::string mebibytes(Bytes bytes) {
  return bytes < kMebibyte ? std::to_string(bytes) + " bytes" : std::to_string(bytes / kMebibyte) + " MiB";
}

// A key of the JSON as words: "transfer_latency" as "transfer latency".
[[nodiscard]] inline std::string with_blanks(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

// Of ASCII, whatever the locale says.
[[nodiscard]] constexpr bool is_digit(char character) { return character >= '0' && character <= '9'; }

[[nodiscard]] constexpr char lower_case(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
}

[[nodiscard]] constexpr bool contains_text(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace debubble
