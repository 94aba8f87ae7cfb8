#include "tools/script_run/records.hpp"

#include <algorithm>
#include <string_view>

#include "formats/shell/evaluator.hpp"
#include "formats/shell/launcher_words.hpp"
#include "formats/text/shell.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostStarts = 2000;

// Words that end with a zero byte each.
class RecordWords {
 public:
  explicit RecordWords(std::string_view text) : text_(text) {}

  [[nodiscard]] bool done() const { return text_.empty(); }

  std::optional<std::string> word() {
    const std::size_t end = text_.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    std::string result(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    if (result.find_first_of("\x01\x02") != std::string::npos) return std::nullopt;  // marks of what is not known
    return result;
  }

  std::optional<std::size_t> number(std::size_t most) {
    const auto text = word();
    if (!text) return std::nullopt;
    const auto value = read_whole<std::size_t>(*text);
    return value && *value <= most ? value : std::nullopt;
  }

  std::optional<std::string_view> bytes(std::size_t count) {
    if (count > text_.size()) return std::nullopt;
    const std::string_view result = text_.substr(0, count);
    text_.remove_prefix(count);
    return result;
  }

 private:
  std::string_view text_;
};

std::optional<StartedProgram> read_start(std::string_view text) {
  RecordWords words(text);
  StartedProgram start;
  const auto name = words.word();
  const auto folder = words.word();
  const auto count = words.number(100'000);
  if (!name || !folder || !count) return std::nullopt;
  start.name = *name;
  start.folder = *folder;
  for (std::size_t k = 0; k < *count; ++k) {
    auto word = words.word();
    if (!word) return std::nullopt;
    start.arguments.push_back(std::move(*word));
  }
  const auto files = words.number(8);
  if (!files) return std::nullopt;
  for (std::size_t k = 0; k < *files; ++k) {
    const auto path = words.word();
    auto content = words.word();
    if (!path || !content) return std::nullopt;
    start.files[shell::whole_path(*path, *folder)] = std::move(*content);
  }
  while (!words.done()) {
    const auto variable = words.word();
    if (!variable) return std::nullopt;
    const std::size_t equals = variable->find('=');
    if (equals == std::string::npos || !shell::is_assignment(*variable)) continue;
    start.environment.emplace_back(variable->substr(0, equals), variable->substr(equals + 1));
  }
  return start;
}

}  // namespace

std::optional<RunRecords> read_records(const std::string& text) {
  RecordWords words(text);
  RunRecords records;
  const auto begin = words.word();
  const auto end = words.word();
  const auto status = words.number(255);
  if (!begin || *begin != "begin" || !end || *end != "end" || !status) return std::nullopt;
  records.status = static_cast<int>(*status);
  while (!words.done()) {
    const auto size = words.number(text.size());
    if (!size) return std::nullopt;
    const auto bytes = words.bytes(*size);
    if (!bytes) return std::nullopt;
    auto start = read_start(*bytes);
    if (!start || records.started.size() + records.missing.size() >= kMostStarts) return std::nullopt;
    if (start->name != "?") {
      records.started.push_back(std::move(*start));
    } else if (start->arguments.size() == 2) {
      records.missing.push_back({start->arguments[0], start->arguments[1]});
    } else {
      return std::nullopt;
    }
  }
  return records;
}

std::string as_script(const std::vector<StartedProgram>& started) {
  std::string text = "#!/bin/bash\n";
  for (const StartedProgram& start : started) {
    text += "(\ncd " + shell_quoted(start.folder) + "\n";
    for (const auto& [name, value] : start.environment) {
      if (name == "PATH" || name == "_" || name == "PWD" || name == "OLDPWD" || name == "SHLVL") continue;
      text += "export " + name + "=" + shell_quoted(value) + "\n";
    }
    text += shell_quoted(start.name);
    for (const std::string& word : start.arguments) text += " " + shell_quoted(word);
    text += "\n)\n";
  }
  return text;
}

}  // namespace debubble
