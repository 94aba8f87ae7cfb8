#include "formats/text/shell.hpp"

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

std::vector<std::string> command_lines(std::string_view command, std::size_t width) {
  std::vector<std::string> arguments{""};
  bool quoted = false;
  for (std::size_t k = 0; k < command.size(); ++k) {
    const char c = command[k];
    if (c == ' ' && !quoted) {
      arguments.emplace_back();
      continue;
    }
    if (c == '\'') quoted = !quoted;
    arguments.back() += c;
    if (c == '\\' && !quoted && k + 1 < command.size()) arguments.back() += command[++k];
  }
  constexpr std::size_t kBackslash = 2;  // and the blank before it
  std::vector<std::string> lines;
  for (const std::string& argument : arguments) {
    if (!lines.empty() && lines.back().size() + 1 + argument.size() + kBackslash <= width) {
      lines.back() += " " + argument;
    } else {
      if (!lines.empty()) lines.back() += " \\";
      lines.push_back(argument);
    }
  }
  return lines;
}

void FlagLine::add_part(std::string_view part) {
  if (part.empty()) return;
  if (!text_.empty()) text_ += ' ';
  text_ += part;
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
