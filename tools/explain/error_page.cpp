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
)";

// The numbers are those of formats/files/plain_text.hpp, json_dialect.hpp and the readers.
constexpr std::string_view kReadersLimits = R"(
## What readers take at most

Checked while a file is read: what is longer is refused with P017, a regular file by its size alone, a pipe or a
compressed file once it has given too much, at less than 200 MB of memory. A device such as /dev/zero is no file (C005).

| what is read | bytes of text | and |
|---|---|---|
| tables of schedules (CSV), plain or in gzip | 64 MiB | 1,000,000 rows, 10,000,000 cells |
| schedules and topologies in JSON | 64 MiB | 4,000,000 values, 500,000 in one array or object, 32 levels |
| profiles, models, factors, efficiency tables, suites, and all other JSON that people write | 64 MiB | 1,000,000 values, 200,000 in one array or object, 32 levels; 100,000 layers or nodes |
| baselines of `check` | 64 MiB | 1,000,000 values, 100 levels |
| scenarios (.toml) and the scripts of `plan` | 1 MiB | |
| run files, plain or in gzip | 1 GiB | as schedules; integers in lists of nothing else are not counted |
| training logs, plain or in gzip | 1 GiB | |
| traces of profilers and of debubble, plain or in gzip; SQLite in gzip | 4 GiB | |
| SQLite for `import --from nsys`, records of debubble | any | read in pieces |

In gzip, text beyond 64 MiB must not be more than 256 times as long as the compressed file; recordings reach 30 times. A
file in which nothing is too much, and something else is wrong, takes more, measured on files near the limits: 135 to 142 bytes
for each JSON value and its text, twice its length more for a string of 16 bytes or more, 41 bytes for each cell of a table.
Two million equal cells are refused after 0.6 s of CPU time, at 93 MB.
)";

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

std::string error_code_text(const ErrorCode& code, const ViewStyle& style) {
  std::string text = paint(style.color, kBold, std::string(code.code)) + "  " + std::string(code.family) + "\n";
  const auto add = [&](const std::string& paragraph) {
    for (const std::string& line : wrap(paragraph, static_cast<std::size_t>(style.width) - 6)) {
      text += "      " + line + "\n";
    }
  };
  add(without_markup(code.meaning));
  add("what to do: " + without_markup(code.remedy));
  return text;
}

std::string error_page() {
  std::string text(kErrorPageHeader);
  std::string_view family;
  for (const ErrorCode& code : error_codes()) {
    if (code.family != family) {
      family = code.family;
      text += fmt::format("\n## {}{}\n\n| code | meaning | what to do |\n|---|---|---|\n",
                          static_cast<char>(family[0] - 'a' + 'A'), family.substr(1));
    }
    text += fmt::format("| {} | {} | {} |\n", code.code, cell(code.meaning), cell(code.remedy));
  }
  return text += kReadersLimits;
}

}  // namespace debubble
