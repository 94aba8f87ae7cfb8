#include "tools/flags/typed_names.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace debubble {
namespace {

// The one long name of a flag that was typed; empty: none, or several.
std::string typed_name(const Flag& flag, std::span<const std::string> arguments) {
  std::string typed;
  const std::vector<std::string_view> names = names_of(flag);
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    const bool is_long = name.starts_with("--") && std::find(names.begin(), names.end(), name) != names.end();
    if (!is_long || name == typed) continue;
    if (!typed.empty()) return "";
    typed = name;
  }
  return typed;
}

bool ends_name(const std::string& text, std::size_t at) {
  return at >= text.size() || text[at] == ' ' || text[at] == '=' || text[at] == ',' || text[at] == ':';
}

// Each name that stands in the text by itself.
void write_typed_names(std::string& text, std::span<const Flag> rows, std::span<const std::string> arguments) {
  for (std::size_t at = 0; (at = text.find("--", at)) != std::string::npos;) {
    std::size_t end = at;
    while (!ends_name(text, end)) ++end;
    const Flag* const flag = find_flag(rows, text.substr(at, end - at));
    const std::string typed = flag == nullptr ? "" : typed_name(*flag, arguments);
    const bool begins = at == 0 || text[at - 1] == ' ';
    if (typed.empty() || !begins) {
      at = end;
      continue;
    }
    text.replace(at, end - at, typed);
    at += typed.size();
  }
}

}  // namespace

InputError by_typed_names(const InputError& error, std::span<const Flag> rows, std::span<const std::string> arguments) {
  std::vector<Diagnostic> problems = error.diagnostics();
  for (Diagnostic& problem : problems) {
    if (!problem.place.starts_with("--")) continue;
    write_typed_names(problem.place, rows, arguments);
    write_typed_names(problem.help, rows, arguments);
  }
  return InputError(std::move(problems));
}

}  // namespace debubble
