#include "tools/flags/config_file.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <utility>

#include "formats/files/read_file.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "tools/flags/command_line.hpp"

namespace debubble {

namespace {

// Takes "--config FILE" or "--config=FILE" out of the arguments; "" when it is not there.
std::string take_config(std::vector<std::string>& arguments) {
  const Diagnostic nameless{"C065", "--config", "no file is named", "write --config FILE.toml"};
  for (auto it = arguments.begin(); it != arguments.end(); ++it) {
    if (*it == "--") break;
    if (it->starts_with("--config=")) {
      std::string file = it->substr(std::string("--config=").size());
      if (file.empty()) throw InputError(nameless);
      arguments.erase(it);
      return file;
    }
    if (*it != "--config") continue;
    if (it + 1 == arguments.end() || (it + 1)->empty()) throw InputError(nameless);
    std::string file = *(it + 1);
    arguments.erase(it, it + 2);
    return file;
  }
  return {};
}

// "file:line" of the first line that sets `key`, or the file alone.
std::string line_in_file(const std::string& text, const std::string& file, const std::string& key) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line.compare(begin, key.size(), key) != 0) continue;
    const std::size_t after = line.find_first_not_of(" \t", begin + key.size());
    if (after != std::string::npos && (line[after] == '=' || line[after] == ']')) {
      return file + ":" + std::to_string(number);
    }
  }
  return file;
}

// Every line must be blank, a comment, a [section] or key = value; CLI11 itself lets anything pass as a bare key.
void check_syntax(const std::string& text, const std::string& file, std::vector<Diagnostic>& problems) {
  std::istringstream lines(text);
  std::string line;
  bool in_array = false;
  int array_line = 0;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    const bool ends_array = line.find(']') != std::string::npos;
    if (in_array) {
      in_array = !ends_array;
      continue;
    }
    if (begin == std::string::npos || line[begin] == '#' || line[begin] == ';') continue;
    if (line[begin] == '[') {
      if (!ends_array) {
        problems.push_back({"G002", file + ":" + std::to_string(number), "the section's name is not closed by ]",
                            "write it like: [simulate]"});
      }
      continue;
    }
    const std::size_t equals = line.find('=');
    const bool has_value =
        equals != std::string::npos && line.find_first_not_of(" \t\r", equals + 1) != std::string::npos;
    if (equals == begin || !has_value) {
      problems.push_back(
          {"G002", file + ":" + std::to_string(number), "this line is not KEY = VALUE", "write it like: devices = 8"});
    }
    const std::size_t value = equals == std::string::npos ? equals : line.find_first_not_of(" \t", equals + 1);
    in_array = value != std::string::npos && line[value] == '[' && !ends_array;
    array_line = number;
  }
  if (in_array) {
    problems.push_back({"G002", file + ":" + std::to_string(array_line), "the array is not closed by ]",
                        "write it like: schedule = [\"1f1b\", \"zb-h1\"]"});
  }
}

// Whether the command line says it too: a list given there replaces the file's, a --param only that of the same key.
bool is_overridden(const std::vector<std::string>& arguments, const std::string& name, const std::string& value) {
  const std::string flag = "--" + name;
  for (std::size_t k = 1; k < arguments.size(); ++k) {
    const std::string& argument = arguments[k];
    const bool has_value = argument.starts_with(flag + "=");
    if (!has_value && argument != flag) continue;
    if (name != "param") return true;
    const std::string given = has_value                  ? argument.substr(flag.size() + 1)
                              : k + 1 < arguments.size() ? arguments[k + 1]
                                                         : "";
    if (given.substr(0, given.find('=')) == value.substr(0, value.find('='))) return true;
  }
  return false;
}

// What is wrong with one item of the file for this verb; nothing when it is a flag of it.
class ItemCheck {
 public:
  ItemCheck(const std::string& text, const std::string& file, std::string verb, const std::vector<std::string>& verbs,
            std::span<const Flag> rows)
      : text_(text), file_(file), verb_(std::move(verb)), verbs_(verbs), rows_(rows) {}

  [[nodiscard]] std::optional<Diagnostic> problem(const ConfigItem& item) const {
    const std::string section = section_of(item);
    const bool is_verb = section.empty() || std::find(verbs_.begin(), verbs_.end(), section) != verbs_.end();
    if (!is_verb || item.sections.size() > 1) {
      return Diagnostic{"C060", line_in_file(text_, file_, "[" + section), "there is no verb [" + section + "]",
                        "sections are named like verbs: [simulate], [compare]"};
    }
    if (!concerns(item)) return std::nullopt;
    const Flag* flag = find_flag(rows_, "--" + item.key);
    if (flag == nullptr) return unknown_flag(item.key);
    if (item.values.size() > 1 && !std::holds_alternative<std::vector<std::string>*>(flag->target)) {
      return Diagnostic{"G002", line_in_file(text_, file_, item.key), item.key + " takes one value",
                        "give it once, without [ ]"};
    }
    return std::nullopt;
  }

  // Whether the item is for all verbs or for this one.
  [[nodiscard]] bool concerns(const ConfigItem& item) const {
    const std::string section = section_of(item);
    return section.empty() || section == verb_;
  }

 private:
  static std::string section_of(const ConfigItem& item) { return item.sections.empty() ? "" : item.sections.front(); }

  [[nodiscard]] Diagnostic unknown_flag(const std::string& name) const {
    const std::string guess = closest_name(name, flag_keys(rows_));
    return {
        "P005", line_in_file(text_, file_, name), "`debubble " + verb_ + "` has no flag \"" + name + "\"",
        guess.empty() ? "the keys are the flags of `debubble " + verb_ + " --help`" : "did you mean " + guess + "?"};
  }

  const std::string& text_;
  const std::string& file_;
  std::string verb_;
  const std::vector<std::string>& verbs_;
  std::span<const Flag> rows_;
};

}  // namespace

Flag config_row(std::string& target) {
  return FlagGroup()("--config", "FILE.toml", "a file of KEY = VALUE lines, named like the flags", &target);
}

namespace {

// Inserts the file's flags after the verb. `place` is for a file that cannot be read.
std::vector<std::string> with_flags_of(const std::string& file, const std::string& place,
                                       std::vector<std::string> arguments, std::span<const Flag> rows,
                                       const std::vector<std::string>& verbs) {
  return expand_config_text(read_file(file, place, kMostScriptBytes), file, std::move(arguments), rows, verbs);
}

}  // namespace

std::vector<std::string> expand_config_text(const std::string& text, const std::string& file,
                                            std::vector<std::string> arguments, std::span<const Flag> rows,
                                            const std::vector<std::string>& verbs) {
  std::vector<Diagnostic> problems;
  check_syntax(text, file, problems);
  std::vector<ConfigItem> items;
  if (problems.empty()) items = config_items(text);
  const ItemCheck check(text, file, arguments.front(), verbs, rows);
  std::vector<std::string> flags;
  for (const ConfigItem& item : items) {
    if (auto problem = check.problem(item)) problems.push_back(std::move(*problem));
    if (!check.concerns(item)) continue;
    for (const std::string& value : item.values) {
      if (!is_overridden(arguments, item.key, value)) flags.push_back("--" + item.key + "=" + value);
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  arguments.insert(arguments.begin() + 1, flags.begin(), flags.end());
  return arguments;
}

std::vector<std::string> expand_config(std::vector<std::string> arguments, std::span<const Flag> rows,
                                       const std::vector<std::string>& verbs) {
  const std::string file = take_config(arguments);
  if (file.empty()) return arguments;
  return with_flags_of(file, "--config", std::move(arguments), rows, verbs);
}

ScenarioFlags read_scenario_file(const std::string& file) {
  ScenarioFlags flags;
  const FlagRows rows = flag_rows(flags);
  std::vector<std::string> arguments = with_flags_of(file, file, {"simulate"}, rows, {"simulate"});
  arguments.erase(arguments.begin());
  parse_written_flags(rows, arguments, "D002", file);
  return flags;
}

InputError placed_in_file(const InputError& error, const std::string& file, const ScenarioFlags& over) {
  if (file == "-") return error;  // read once
  ScenarioFlags copy = over;
  const FlagRows rows = flag_rows(copy);
  const std::string text = read_file(file, file, kMostScriptBytes);
  std::vector<Diagnostic> problems = error.diagnostics();
  for (Diagnostic& problem : problems) {
    if (!problem.place.starts_with("--")) continue;
    const std::string name = problem.place.substr(0, problem.place.find(' '));
    const Flag* flag = find_flag(rows, name);
    if (flag == nullptr || !values_of(*flag).empty()) continue;
    const std::string place = line_in_file(text, file, name.substr(2));
    if (place != file) problem.place = place;
  }
  return InputError(std::move(problems));
}

}  // namespace debubble
