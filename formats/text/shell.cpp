#include "formats/text/shell.hpp"

#include <fmt/format.h>

namespace debubble {
namespace {

// Every byte that is not plain ASCII by its number: bash, zsh and POSIX of 2024 read it back.
std::string in_dollar_quotes(std::string_view argument) {
  std::string quoted = "$'";
  for (const char c : argument) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      quoted += fmt::format("\\{:03o}", byte);
    } else {
      quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
  }
  return quoted + "'";
}

}  // namespace

std::string shell_quoted(std::string_view argument) {
  const bool plain = !argument.empty() && printable(argument) == argument &&
                     argument.find_first_of(" \t\n'\"\\$&|;<>()*?[]#~`!{}") == std::string_view::npos;
  if (plain) return std::string(argument);
  if (printable(argument) != argument) return in_dollar_quotes(argument);
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_file(std::string_view path) {
  const bool looks_like_flag = path.starts_with('-') && path != "-";
  return shell_quoted(looks_like_flag ? "./" + std::string(path) : std::string(path));
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

}  // namespace debubble
