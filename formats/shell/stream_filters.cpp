// sed and awk, in the forms that scripts use.
#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "formats/shell/patterns.hpp"
#include "formats/shell/text_filters.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"

namespace debubble::shell {
namespace {

struct SedCommand {
  char kind = '\0';  // s, p, d, q
  Regex expression;
  std::string by;
  bool all = false;
  bool prints = false;
  long line = 0;      // of "3p"; 0: every
  bool last = false;  // "$"
  Regex matching;     // of "/x/p"
};

// Up to the separator, which may be escaped; nothing where it is missing.
std::optional<std::string> up_to(const std::string& text, std::size_t& at, char separator) {
  std::string part;
  for (; at < text.size() && text[at] != separator; ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) {
      ++at;
      if (text[at] != separator) part += '\\';
    }
    part += text[at];
  }
  if (at >= text.size()) return std::nullopt;
  ++at;
  return part;
}

std::optional<SedCommand> sed_command(const std::string& text, std::size_t& at, bool extended) {
  SedCommand command;
  while (at < text.size() && (text[at] == ' ' || text[at] == ';')) ++at;
  std::string number;
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0 && number.size() < 8) {
    number += text[at++];
  }
  if (const auto line = read_whole<decltype(command.line)>(number)) command.line = *line;
  if (at < text.size() && text[at] == '$') {
    command.last = true;
    ++at;
  }
  if (at < text.size() && text[at] == '/') {
    ++at;
    const auto matching = up_to(text, at, '/');
    if (!matching) return std::nullopt;
    command.matching = Regex(*matching, extended);
  }
  if (at >= text.size()) return std::nullopt;
  command.kind = text[at++];
  if (command.kind == 's') {
    if (at >= text.size()) return std::nullopt;
    const char separator = text[at++];
    const auto expression = up_to(text, at, separator);
    const auto by = expression ? up_to(text, at, separator) : std::nullopt;
    if (!by) return std::nullopt;
    command.by = *by;
    bool ignore_case = false;
    for (; at < text.size() && text[at] != ';' && text[at] != ' ' && text[at] != '\n'; ++at) {
      if (text[at] == 'g') command.all = true;
      if (text[at] == 'p') command.prints = true;
      if (text[at] == 'I' || text[at] == 'i') ignore_case = true;
      if (std::string_view("gpIi").find(text[at]) == std::string_view::npos) return std::nullopt;
    }
    command.expression = Regex(*expression, extended, ignore_case);
  } else if (command.kind != 'p' && command.kind != 'd' && command.kind != 'q') {
    return std::nullopt;
  }
  while (at < text.size() && (text[at] == ' ' || text[at] == ';' || text[at] == '\n')) ++at;
  return command;
}

std::string substituted(SedCommand& command, const std::string& line, bool& any) {
  std::string result;
  std::string left = line;
  any = false;
  while (true) {
    // An anchored expression holds at the begin of the line alone.
    if (any && command.expression.expression().starts_with("^")) break;
    const RegexMatch match = command.expression.match(left);
    if (!match.found) break;
    any = true;
    result += left.substr(0, match.begin);
    for (std::size_t k = 0; k < command.by.size(); ++k) {
      const char c = command.by[k];
      if (c == '&') {
        result += match.groups.front();
      } else if (c == '\\' && k + 1 < command.by.size()) {
        const char next = command.by[++k];
        const std::size_t group = static_cast<std::size_t>(next - '0');
        if (next >= '0' && next <= '9') {
          if (group < match.groups.size()) result += match.groups[group];
        } else {
          result += next == 'n' ? '\n' : next == 't' ? '\t' : next;
        }
      } else {
        result += c;
      }
    }
    left = left.substr(match.begin + match.length);
    if (match.length == 0) {
      if (left.empty()) break;
      result += left.front();
      left = left.substr(1);
    }
    if (!command.all || left.empty()) break;
  }
  return result + left;
}

// A piece of what awk prints: a text, or $n, NF, NR.
struct AwkItem {
  std::string text;
  long field = -1;
  bool last = false;  // $NF
  bool count = false;
  bool row = false;
};

std::optional<std::vector<AwkItem>> awk_items(const std::string& text) {
  std::vector<AwkItem> items;
  std::size_t at = 0;
  bool comma = false;
  while (true) {
    while (at < text.size() && text[at] == ' ') ++at;
    if (at >= text.size()) break;
    AwkItem item;
    if (text[at] == ',') {
      comma = true;
      ++at;
      continue;
    }
    if (comma) items.push_back({" "});
    comma = false;
    if (text[at] == '"') {
      const std::size_t end = text.find('"', at + 1);
      if (end == std::string::npos) return std::nullopt;
      item.text = text.substr(at + 1, end - at - 1);
      if (item.text.find('\\') != std::string::npos) return std::nullopt;
      at = end + 1;
    } else if (text[at] == '$') {
      ++at;
      if (text.compare(at, 2, "NF") == 0) {
        item.last = true;
        at += 2;
      } else {
        std::string_view left = std::string_view(text).substr(at);
        const auto field = take_whole<int>(left);
        if (!field || *field < 0) return std::nullopt;
        item.field = *field;
        at = text.size() - left.size();
      }
    } else if (text.compare(at, 2, "NF") == 0 || text.compare(at, 2, "NR") == 0) {
      item.count = text[at + 1] == 'F';
      item.row = !item.count;
      at += 2;
    } else {
      return std::nullopt;
    }
    items.push_back(item);
  }
  return items;
}

struct AwkProgram {
  Regex matching;
  long row = 0;
  bool at_end = false;
  std::vector<AwkItem> items;
};

std::optional<AwkProgram> awk_program(std::string text) {
  AwkProgram program;
  const auto trim = [](std::string& one) {
    while (!one.empty() && (one.front() == ' ' || one.front() == '\n')) one.erase(0, 1);
    while (!one.empty() && (one.back() == ' ' || one.back() == ';' || one.back() == '\n')) one.pop_back();
  };
  trim(text);
  if (text.starts_with("/")) {
    std::size_t at = 1;
    const auto matching = up_to(text, at, '/');
    if (!matching) return std::nullopt;
    program.matching = Regex(*matching);
    text = text.substr(at);
  } else if (text.starts_with("END")) {
    program.at_end = true;
    text = text.substr(3);
  } else if (text.starts_with("NR")) {
    std::size_t at = 2;
    while (at < text.size() && (text[at] == ' ' || text[at] == '=')) ++at;
    std::string_view left = std::string_view(text).substr(at);
    const auto row = take_whole<decltype(program.row)>(left);
    if (!row || text.find("==") == std::string::npos) return std::nullopt;
    program.row = *row;
    text = std::string(left);
  }
  trim(text);
  if (text.empty()) {
    program.items = {AwkItem{"", 0}};
    return program;
  }
  if (text.front() != '{' || text.back() != '}') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  trim(text);
  if (text.ends_with("exit")) {
    text.resize(text.size() - 4);
    trim(text);
  }
  if (!text.starts_with("print") || text.starts_with("printf")) return std::nullopt;
  text = text.substr(5);
  trim(text);
  const auto items = awk_items(text);
  if (!items) return std::nullopt;
  program.items = items->empty() ? std::vector<AwkItem>{AwkItem{"", 0}} : *items;
  return program;
}

std::vector<std::string> awk_fields(const std::string& line, const std::string& separator) {
  if (separator != " ") return split(line, separator[0]);
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; stream >> field;) fields.push_back(field);
  return fields;
}

}  // namespace

Filtered filter_sed(const FilterWords& words, const std::string& input, FilterWords& files) {
  bool silent = false;
  bool extended = false;
  bool in_place = false;
  std::vector<std::string> scripts;
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string& word = words[k];
    if ((word == "-e" || word == "--expression") && k + 1 < words.size()) {
      scripts.push_back(words[++k]);
    } else if (word == "-i") {
      in_place = true;
    } else if (word == "-n") {
      silent = true;
    } else if (word == "-E" || word == "-r") {
      extended = true;
    } else if (word.size() > 1 && word[0] == '-') {
      return std::nullopt;
    } else if (scripts.empty()) {
      scripts.push_back(word);
    } else {
      files.push_back(word);
    }
  }
  if (in_place) return std::nullopt;
  std::vector<SedCommand> commands;
  for (const std::string& script : scripts) {
    for (std::size_t at = 0; at < script.size();) {
      const auto command = sed_command(script, at, extended);
      if (!command) return std::nullopt;
      commands.push_back(*command);
    }
  }
  std::string result;
  std::istringstream stream(input);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  try {
    for (std::size_t row = 1; row <= lines.size(); ++row) {
      std::string line = lines[row - 1];
      bool deleted = false;
      bool quits = false;
      for (SedCommand& command : commands) {
        if (command.line != 0 && command.line != static_cast<long>(row)) continue;
        if (command.last && row != lines.size()) continue;
        if (!command.matching.expression().empty() && !command.matching.match(line).found) continue;
        if (command.kind == 'd') deleted = true;
        if (command.kind == 'q') quits = true;
        if (command.kind == 'p') result += line + "\n";
        if (command.kind != 's') continue;
        bool any = false;
        line = substituted(command, line, any);
        if (any && command.prints) result += line + "\n";
      }
      if (!silent && !deleted) result += line + "\n";
      if (quits) break;
    }
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  return result;
}

Filtered filter_awk(const FilterWords& words, const std::string& input, FilterWords& files) {
  std::string separator = " ";
  std::optional<std::string> script;
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string& word = words[k];
    if (word == "-F" && k + 1 < words.size()) {
      separator = words[++k];
    } else if (word.starts_with("-F")) {
      separator = word.substr(2);
    } else if (word.size() > 1 && word[0] == '-') {
      return std::nullopt;
    } else if (!script) {
      script = word;
    } else {
      files.push_back(word);
    }
  }
  if (!script || separator.size() != 1) return std::nullopt;
  auto program = awk_program(*script);
  if (!program) return std::nullopt;
  std::string result;
  std::istringstream stream(input);
  long row = 0;
  std::string last;
  const auto print = [&](const std::string& line) {
    const std::vector<std::string> fields = awk_fields(line, separator);
    for (const AwkItem& item : program->items) {
      const auto size = static_cast<long>(fields.size());
      if (item.count) {
        result += std::to_string(size);
      } else if (item.row) {
        result += std::to_string(row);
      } else if (item.last) {
        result += fields.empty() ? "" : fields.back();
      } else if (item.field == 0) {
        result += line;
      } else if (item.field > 0) {
        result += item.field <= size ? fields[static_cast<std::size_t>(item.field) - 1] : "";
      } else {
        result += item.text;
      }
    }
    result += "\n";
  };
  try {
    for (std::string line; std::getline(stream, line);) {
      ++row;
      last = line;
      if (program->at_end || (program->row != 0 && program->row != row)) continue;
      if (!program->matching.expression().empty() && !program->matching.match(line).found) continue;
      print(line);
    }
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  if (program->at_end) print(last);
  return result;
}

}  // namespace debubble::shell
