#include "tools/explain/error_page.hpp"

#include <fmt/format.h>

#include "tools/views/ansi.hpp"

namespace debubble {

namespace {

constexpr std::string_view kErrorPageHeader = R"(# Error codes

<!-- Made by `debubble list error-codes --format markdown`; a test fails where it differs from the table. -->

An error names its code, the place, what is wrong and how to fix it. A code says what went wrong; the place says in which
file or flag. `debubble explain CODE` prints a row of these tables.

Errors end in exit status 2, but for findings of a run (X010, F040, E030, E031 and `--fail-if`: 1) and what this machine
lacks (the last table, and X004: 3). Notes and warnings (S020, M030, F025, F026, F030) do not change the exit status.

Former codes are those of earlier versions, in which the same fault had a code for every kind of file. No message carries
them any more; until the next release `debubble explain` accepts them and names the code that took their place.
)";

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : " ") + std::string(word);
  return text;
}

// "|" would end a table's cell; "<" might begin a tag.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '<') result += '\\';
    result += c;
  }
  return result;
}

// Marks of Markdown are for the page alone.
std::string without_markup(std::string_view text) {
  std::string result(text);
  std::erase(result, '`');
  return result;
}

}  // namespace

std::string error_code_text(const ErrorCode& code, std::string_view asked, const ViewStyle& style) {
  std::string text;
  if (asked != code.code) {
    text +=
        fmt::format("{} is a former code, kept as an alias until the next release: it is {} now.\n", asked, code.code);
  }
  text += paint(style.color, kBold, std::string(code.code)) + "  " + std::string(code.family) + "\n";
  const auto add = [&](const std::string& paragraph) {
    for (const std::string& line : wrap(paragraph, static_cast<std::size_t>(style.width) - 6)) {
      text += "      " + line + "\n";
    }
  };
  add(without_markup(code.meaning));
  add("what to do: " + without_markup(code.remedy));
  if (!code.former.empty()) add("former codes, aliases until the next release: " + joined(code.former));
  return text;
}

std::string error_page() {
  std::string text(kErrorPageHeader);
  std::string_view family;
  for (const ErrorCode& code : error_codes()) {
    if (code.family != family) {
      family = code.family;
      text += fmt::format("\n## {}{}\n\n| code | meaning | what to do | former codes |\n|---|---|---|---|\n",
                          static_cast<char>(family[0] - 'a' + 'A'), family.substr(1));
    }
    text +=
        fmt::format("| {} | {} | {} | {} |\n", code.code, cell(code.meaning), cell(code.remedy), joined(code.former));
  }
  return text;
}

}  // namespace debubble
