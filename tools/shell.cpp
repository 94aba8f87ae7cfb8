#include "tools/shell.hpp"

#include <fmt/format.h>

namespace debubble {

std::string shell_quoted(std::string_view argument) {
  const bool plain =
      !argument.empty() && argument.find_first_of(" \t\n'\"\\$&|;<>()*?[]#~`!{}") == std::string_view::npos;
  if (plain) return std::string(argument);
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string printable(std::string_view text) {
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kDelete = 0x7f;
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < kFirstPrintable || byte == kDelete ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return result;
}

}  // namespace debubble
