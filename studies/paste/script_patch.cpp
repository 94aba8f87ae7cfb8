// Arguments are found in the script by name, wherever they stand: in the command, in an array, between quotes. Those
// whose value changes get it in place, those that must go are taken out with their values, new ones follow another.
#include "studies/paste/script_patch.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "formats/megatron/argument_table.hpp"
#include "formats/megatron/arguments.hpp"
#include "formats/megatron/launch.hpp"
#include "formats/text/shell.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

using ScriptValues = std::map<std::string, std::vector<std::string>>;

struct ScriptWord {
  std::string name;  // "micro-batch-size"
  std::size_t begin = 0;
  std::size_t end = 0;  // behind its values
};

struct ScriptEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// By place: the quote that it is in, '#' in a comment, or 0.
std::string quotes_of(const std::string& text) {
  std::string quotes(text.size(), '\0');
  char open = '\0';
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (open == '#' && c == '\n') open = '\0';
    quotes[k] = open;
    if (c == '\\' && open != '\'' && open != '#' && k + 1 < text.size()) {
      quotes[++k] = open;
    } else if (open == '\0' && (c == '\'' || c == '"')) {
      open = c;
    } else if (open == '\0' && c == '#' &&
               (k == 0 || text[k - 1] == ' ' || text[k - 1] == '\t' || text[k - 1] == '\n')) {
      open = '#';
    } else if (open != '\0' && open != '#' && c == open) {
      open = '\0';
    }
  }
  return quotes;
}

class ScriptEditor {
 public:
  explicit ScriptEditor(const std::string& text) : text_(text), quotes_(quotes_of(text)) {
    for (std::size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at + 1)) {
      const bool begins = at == 0 || !(is_name_char(text[at - 1]) || text[at - 1] == '$' || text[at - 1] == '{');
      if (begins && quotes_[at] != '#') find_word(at);
    }
  }

  // Every place of the name; false where it has none.
  bool replace(const std::string& name, const PastedFlag* flag) {
    bool found = false;
    for (const ScriptWord& word : words_) {
      if (word.name != name) continue;
      found = true;
      if (flag != nullptr) {
        edits_.push_back({word.begin, word.end, written(*flag, word.begin)});
        continue;
      }
      std::size_t begin = word.begin;
      while (begin > 0 && (text_[begin - 1] == ' ' || text_[begin - 1] == '\t')) --begin;
      const bool alone = begin == 0 || text_[begin - 1] == '\n';
      edits_.push_back({alone ? word.begin : begin, word.end, ""});
    }
    return found;
  }

  // Behind the first of these names that there is. False: there is none.
  bool add(const std::vector<PastedFlag>& flags) {
    for (const char* const anchor : {"micro-batch-size", "global-batch-size", "num-layers", "seq-length"}) {
      const auto word =
          std::find_if(words_.begin(), words_.end(), [&](const ScriptWord& one) { return one.name == anchor; });
      if (word == words_.end()) continue;
      std::string text;
      for (const PastedFlag& flag : flags) text += separator(*word) + written(flag, word->begin);
      edits_.push_back({word->end, word->end, text});
      return true;
    }
    return flags.empty();
  }

  void set_variable(const std::string& name, const std::string& value) {
    bool found = false;
    for (std::size_t at = text_.find(name + "="); at != std::string::npos; at = text_.find(name + "=", at + 1)) {
      if (quotes_[at] == '#') continue;
      const std::size_t begin = at + name.size() + 1;
      edits_.push_back({begin, word_end(begin), value});
      found = true;
    }
    if (found) return;
    std::size_t at = 0;
    while (at < text_.size() && text_[at] == '#') at = std::min(text_.find('\n', at), text_.size() - 1) + 1;
    edits_.push_back({at, at, "export " + name + "=" + value + "\n"});
  }

  [[nodiscard]] std::string edited() {
    std::stable_sort(edits_.begin(), edits_.end(), [](const ScriptEdit& a, const ScriptEdit& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::string text;
    std::size_t at = 0;
    for (const ScriptEdit& edit : edits_) {
      if (edit.begin < at) continue;
      text += text_.substr(at, edit.begin - at) + edit.text;
      at = edit.end;
    }
    return without_emptied_lines(text + text_.substr(at));
  }

 private:
  void find_word(std::size_t at) {
    std::size_t end = at + 2;
    while (end < text_.size() && is_name_char(text_[end])) ++end;
    std::string name = text_.substr(at + 2, end - at - 2);
    std::replace(name.begin(), name.end(), '_', '-');
    name = todays_name(name);
    const auto row = megatron_argument(name);
    if (!row) return;
    if (end < text_.size() && text_[end] == '=') {
      end = word_end(end + 1);
    } else if (row->values != ArgumentValues::kNone) {
      do {
        const std::size_t begin = text_.find_first_not_of(" \t", end);
        if (begin == std::string::npos || begin == end || text_.compare(begin, 2, "--") == 0) break;
        if (text_[begin] == '\\' || text_[begin] == '#' || word_end(begin) == begin) break;
        end = word_end(begin);
      } while (row->values == ArgumentValues::kMany);
    }
    words_.push_back({name, at, end});
  }

  // Of the shell's word that begins there.
  [[nodiscard]] std::size_t word_end(std::size_t at) const {
    const char outside = at < quotes_.size() ? quotes_[at] : '\0';
    int depth = 0;  // of $( ) and ${ }
    for (; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '$' && at + 1 < text_.size() && (text_[at + 1] == '(' || text_[at + 1] == '{')) {
        ++depth;
        ++at;
      } else if (depth > 0) {
        depth -= c == ')' || c == '}';
      } else if (quotes_[at] == outside) {
        if (c == outside && outside != '\0') return at;
        const bool ends_unquoted = c == ')' || c == ';' || c == '&' || c == '|';
        if (c == ' ' || c == '\t' || c == '\n' || c == '\\' || (outside == '\0' && ends_unquoted)) return at;
      }
    }
    return at;
  }

  [[nodiscard]] std::string written(const PastedFlag& flag, std::size_t at) const {
    std::string text = flag.name;
    for (const std::string& value : flag.values) text += " " + (quotes_[at] == '\0' ? shell_quoted(value) : value);
    return text;
  }

  // A line of its own where the anchor has one.
  [[nodiscard]] std::string separator(const ScriptWord& anchor) const {
    const std::size_t line = anchor.begin == 0 ? 0 : text_.rfind('\n', anchor.begin - 1) + 1;
    const std::string indent = text_.substr(line, anchor.begin - line);
    if (indent.find_first_not_of(" \t") != std::string::npos) return " ";
    const std::size_t end = std::min(text_.find('\n', anchor.end), text_.size());
    std::string rest = text_.substr(anchor.end, end - anchor.end);
    rest.erase(0, std::min(rest.find_first_not_of(" \t\r"), rest.size()));
    if (rest == "\\") return " \\\n" + indent;
    const bool continued = line > 1 && text_[line - 2] == '\\';
    return rest.empty() && !continued ? "\n" + indent : " ";
  }

  // A line that had arguments and has none goes, but for the end of a command that goes over several lines.
  [[nodiscard]] std::string without_emptied_lines(const std::string& text) const {
    std::istringstream lines(text);
    std::string result;
    bool continued = false;
    for (std::string line; std::getline(lines, line);) {
      const bool ends = !lines.eof();
      const std::size_t first = line.find_first_not_of(" \t\r");
      const bool only_backslash = first != std::string::npos && line.substr(first) == "\\";
      const bool blank = first == std::string::npos;
      const bool was_there = blank && has_line(line);
      if (only_backslash || (blank && !was_there && !continued)) continue;
      result += line + (ends ? "\n" : "");
      continued = line.ends_with('\\');
    }
    return result;
  }

  [[nodiscard]] bool has_line(const std::string& line) const {
    return ("\n" + text_).find("\n" + line + "\n") != std::string::npos;
  }

  const std::string& text_;
  std::string quotes_;
  std::vector<ScriptWord> words_;
  std::vector<ScriptEdit> edits_;
};

std::vector<std::string> names_owned_by(const PastePart& part) {
  std::vector<std::string> names;
  std::istringstream owned{std::string(part.owned)};
  for (std::string name; owned >> name;) names.push_back(name.substr(2));
  return names;
}

MegatronLaunch launch_of(const std::string& text, const std::string& name) {
  LaunchGiven given;
  given.shell.path = name;
  given.needs_ranks = false;
  return read_launch(text, name, given);
}

const PastedFlag* flag_named(const std::vector<PastedFlag>& flags, const std::string& name) {
  const auto found =
      std::find_if(flags.begin(), flags.end(), [&](const PastedFlag& flag) { return flag.name == "--" + name; });
  return found == flags.end() ? nullptr : &*found;
}

}  // namespace

std::string script_patch(const ScriptToPatch& script, const Paste& wanted) {
  const MegatronLaunch launch = launch_of(script.text, script.name);
  ScriptValues values = MegatronArguments(launch.arguments).values();
  ScriptEditor editor(script.text);
  std::vector<PastedFlag> added;
  for (const PastePart& part : wanted.parts) {
    const auto own = std::find_if(script.own.parts.begin(), script.own.parts.end(),
                                  [&](const PastePart& one) { return one.field == part.field; });
    if (own != script.own.parts.end() && own->flags == part.flags) continue;
    for (const std::string& name : names_owned_by(part)) {
      const PastedFlag* const flag = flag_named(part.flags, name);
      const bool found = editor.replace(name, flag);
      values.erase(name);
      if (flag == nullptr) continue;
      values[name] = flag->values;
      if (!found) added.push_back(*flag);
    }
  }
  std::string missing = editor.add(added) ? "" : added.front().name;
  for (const auto& [variable, value] : wanted.environment) {
    const auto set = launch.environment.find(variable);
    if (set == launch.environment.end() || set->second != value) editor.set_variable(variable, value);
  }
  const std::string patched = editor.edited();
  const ScriptValues read = MegatronArguments(launch_of(patched, script.name).arguments).values();
  for (const auto& [name, words] : read) {
    if (!values.contains(name) || values.at(name) != words) missing += " --" + name;
  }
  for (const auto& [name, words] : values) {
    if (!read.contains(name)) missing += " --" + name;
  }
  if (!missing.empty()) {
    fail("P036", script.name, "a patch of this file does not reach all arguments that change:" + missing,
         "leave --script out, which prints them, and change them where they are set");
  }
  return unified_diff(script.text, patched, script.name);
}

}  // namespace debubble
