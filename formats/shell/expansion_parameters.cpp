// ${name}, with all its operators.
#include <algorithm>
#include <cctype>
#include <utility>

#include "formats/shell/expansion.hpp"
#include "formats/shell/patterns.hpp"

namespace debubble::shell {
namespace {

bool is_number(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string plain_index(const Part& part) {
  const bool plain = part.index && part.index->parts.size() == 1 && part.index->parts.front().kind == Part::Kind::kText;
  return plain ? part.index->parts.front().text : "";
}

std::string cased(const std::string& text, const std::string& op) {
  std::string result = text;
  const std::size_t count = op.size() == 2 ? result.size() : std::min<std::size_t>(1, result.size());
  for (std::size_t k = 0; k < count; ++k) {
    const auto c = static_cast<unsigned char>(result[k]);
    result[k] = static_cast<char>(op[0] == '^' ? std::toupper(c) : std::tolower(c));
  }
  return result;
}

}  // namespace

ParameterValue Expansion::special(const std::string& name) {
  State& state = machine_.state();
  ParameterValue value{.set = true, .script = true};
  if (name == "@" || name == "*") {
    value.list = true;
    value.joins = name == "*";
    value.words = state.positional;
    if (!state.positional_given && state.positional.empty()) {
      machine_.note("the script is taken to have no arguments of its own (--args gives them)", machine_.line());
    }
    value.set = !value.words.empty();
    return value;
  }
  if (name == "#") {
    if (!state.positional_given) {
      machine_.note("the script is taken to have no arguments of its own (--args gives them)", machine_.line());
    }
    std::vector<int> causes;
    for (const std::string& word : state.positional) {
      if (is_mark(word) && !machine_.unknowns().at(marks(word).front()).causes.empty()) causes = marks(word);
    }
    value.words = {causes.empty() ? std::to_string(state.positional.size()) : machine_.mark_of(causes, "$#")};
    return value;
  }
  if (name == "?") {
    const Status& status = state.status;
    value.words = {status.known ? std::to_string(status.code) : machine_.mark_of(status.causes, "$?")};
    return value;
  }
  if (name == "-") return ParameterValue{true, false, false, true, {state.stops_on_error ? "ehB" : "hB"}};
  if (name == "0") return ParameterValue{true, false, false, true, {machine_.script_name()}};
  if (is_number(name)) {
    const std::size_t at = name.size() > 6 ? 1'000'000 : std::stoul(name);
    if (at <= state.positional.size()) return ParameterValue{true, false, false, true, {state.positional[at - 1]}};
    if (state.positional_given) return ParameterValue{false, false, false, true, {}};
    return ParameterValue{false, false, false, false, {mark(machine_.unknowns().positional(name, machine_.line()))}};
  }
  // $$, $!
  value.words = {machine_.mark_of({}, name == "$" ? "the number of a process" : "$" + name)};
  return value;
}

ParameterValue Expansion::look_up(const Part& part) {
  const auto c = static_cast<unsigned char>(part.text[0]);
  if (std::isalpha(c) == 0 && c != '_') return special(part.text);
  const std::string name = machine_.target_of(part.text);
  State& state = machine_.state();
  const auto found = state.variables.find(name);
  const std::string all = plain_index(part);
  const bool list = all == "@" || all == "*";
  if (found == state.variables.end()) {
    ParameterValue none = machine_.unset_variable(name, list);
    none.joins = all == "*";
    return none;
  }
  const Variable& variable = found->second;
  ParameterValue value{.script = true};
  if (list) {
    value.list = true;
    value.joins = all == "*";
    for (const auto& [index, item] : variable.items) value.words.push_back(item);
    for (const auto& [key, item] : variable.keyed) value.words.push_back(item);
    value.set = !value.words.empty();
    return value;
  }
  const bool zero = !part.index;
  if (variable.has_keys) {
    const auto item = variable.keyed.find(zero ? "0" : machine_.single(*part.index));
    value.set = item != variable.keyed.end();
    if (value.set) value.words = {item->second};
    return value;
  }
  std::int64_t index = 0;
  if (!zero) {
    const ArithmeticResult where = machine_.arithmetic(machine_.single(*part.index));
    const auto whole = variable.items.find(0);
    const bool unknown_array = variable.items.size() == 1 && whole != variable.items.end() && is_mark(whole->second);
    if (!where.known || unknown_array) {
      std::vector<int> causes = where.causes;
      for (const auto& [at, item] : variable.items) {
        for (const int cause : marks(item)) causes.push_back(cause);
      }
      value.set = true;
      value.words = {machine_.mark_of(causes, "an item of " + name)};
      return value;
    }
    index = where.value;
    if (index < 0 && !variable.items.empty()) index += variable.items.rbegin()->first + 1;
  }
  const auto item = variable.items.find(index);
  value.set = item != variable.items.end();
  if (value.set) value.words = {item->second};
  return value;
}

// ${!name}: what the variable has whose name is the value; ${!A[@]}: the indices.
ParameterValue Expansion::indirect(const Part& part) {
  const std::string all = plain_index(part);
  State& state = machine_.state();
  if (all == "@" || all == "*") {
    ParameterValue value{.set = true, .list = true, .joins = all == "*", .script = true};
    const auto found = state.variables.find(machine_.target_of(part.text));
    if (found == state.variables.end()) return value;
    if (found->second.keyed.size() > 1) {  // bash has an order of its own
      value.words = {machine_.mark_of({}, "the order of the keys of " + part.text)};
      return value;
    }
    for (const auto& [index, item] : found->second.items) value.words.push_back(std::to_string(index));
    for (const auto& [key, item] : found->second.keyed) value.words.push_back(key);
    return value;
  }
  if (part.op == "@" || part.op == "*") {  // ${!prefix@}
    return ParameterValue{true, false, false, true, {machine_.mark_of({}, "the variables named " + part.text + "*")}};
  }
  if (const std::string target = machine_.target_of(part.text); target != part.text) {
    return ParameterValue{true, false, false, true, {target}};
  }
  Part direct = part;
  direct.indirect = false;
  const ParameterValue name = look_up(direct);
  const std::string text = name.words.empty() ? "" : name.words.front();
  if (has_mark(text))
    return ParameterValue{true, false, false, true, {machine_.mark_of(marks(text), "${!" + part.text + "}")}};
  Part other;
  other.kind = Part::Kind::kParameter;
  const std::size_t bracket = text.find('[');
  other.text = text.substr(0, bracket);
  if (bracket != std::string::npos && text.back() == ']') {
    Word index;
    index.parts.push_back(Part{.text = text.substr(bracket + 1, text.size() - bracket - 2)});
    other.index = std::make_shared<const Word>(std::move(index));
  }
  if (other.text.empty()) throw CommandFailure{};
  return look_up(other);
}

// :- := :? :+ and their like without a colon. True where the word that stands in was put down.
bool Expansion::stand_in(const Part& part, ParameterValue& found) {
  const std::string& op = part.op;
  const bool colon = op.size() == 2 && op[0] == ':';
  const char kind = colon ? op[1] : op.size() == 1 ? op[0] : '\0';
  if (std::string_view("-=?+").find(kind) == std::string_view::npos || kind == '\0') {
    replace_unknown(found, part);
    return false;
  }
  const bool outside = !found.script;  // nobody knows whether the environment has it: a stranger's shell has not
  std::string text;
  for (const std::string& word : found.words) text += word;
  bool present = found.set && (!colon || !text.empty());
  std::vector<int> causes;
  if (outside) {
    present = false;
  } else if (found.set && colon && has_mark(text)) {
    const Answer empty = machine_.is_empty(text);
    causes = empty.causes;
    present = !empty.yes;
  }
  const auto put = [&] {
    if (!part.argument) return;
    const bool splits = std::exchange(splits_text_, !part.quoted);
    word(*part.argument);
    splits_text_ = splits;
  };
  if (!causes.empty()) {
    if (kind == '?' || kind == '-' || kind == '=' || kind == '+') {
      value(machine_.mark_of(causes, "${" + part.text + op + "...}"), part.quoted);
    }
    return true;
  }
  if (kind == '+') {
    if (outside) machine_.note_unset(part.text, "");
    if (present) put();
    if (part.quoted && !(found.list && !found.joins && found.words.empty())) text_nothing();
    return true;
  }
  if (kind == '?') {
    if (!present && !outside) throw CommandFailure{};
    if (outside) found.words = {machine_.outside_mark(part.text)};
    return false;
  }
  if (present) return false;
  if (outside) {
    machine_.note_unset(part.text, part.argument ? machine_.single(*part.argument) : "");
  }
  if (kind == '=') {
    const std::string given = part.argument ? machine_.single(*part.argument) : "";
    machine_.assign(part.text, given);
    value(given, part.quoted);
    return true;
  }
  if (part.quoted) text_nothing();
  put();
  return true;
}

// A variable that is not set in the script, and has no default here: it may be in the environment.
void Expansion::replace_unknown(ParameterValue& found, const Part& part) {
  if (found.script || found.list) return;
  if (found.words.empty()) found.words = {machine_.outside_mark(part.text)};
  found.set = true;
}

void Expansion::text_nothing() { text("", true); }

void Expansion::slice(const Part& part, ParameterValue& found) {
  const ArithmeticResult from = machine_.arithmetic(machine_.single(*part.argument));
  ArithmeticResult count{.value = 0};
  if (part.second) count = machine_.arithmetic(machine_.single(*part.second));
  std::vector<int> causes = from.causes;
  causes.insert(causes.end(), count.causes.begin(), count.causes.end());
  for (const std::string& word : found.words) {
    for (const int cause : marks(word)) causes.push_back(cause);
  }
  // ${@:0} begins with $0, and ${@: -1} may come to it.
  if (part.text == "@" || part.text == "*") found.words.insert(found.words.begin(), machine_.script_name());
  if (!causes.empty() && !(found.list && from.known && count.known)) {
    found = ParameterValue{true, false, false, true, {machine_.mark_of(causes, "a part of " + part.text)}};
    return;
  }
  const auto size = static_cast<std::int64_t>(found.list            ? found.words.size()
                                              : found.words.empty() ? 0
                                                                    : found.words.front().size());
  std::int64_t begin = from.value;
  if (begin < 0) begin += size;
  if (begin < 0) begin = size;
  begin = std::clamp<std::int64_t>(begin, 0, size);
  std::int64_t end = size;
  if (part.second) {
    const std::int64_t wanted = std::clamp<std::int64_t>(count.value, -size, size);
    end = wanted < 0 ? size + wanted : begin + wanted;
  }
  end = std::clamp<std::int64_t>(end, begin, size);
  if (found.list) {
    found.words = Strings(found.words.begin() + begin, found.words.begin() + end);
  } else if (!found.words.empty()) {
    found.words.front() =
        found.words.front().substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }
}

std::string Expansion::operated(const Part& part, const std::string& text) {
  const std::string& op = part.op;
  const std::string pattern = part.argument ? machine_.pattern(*part.argument) : "";
  const std::string by = part.second ? machine_.single(*part.second) : "";
  const auto apply = [&](const std::string& one) -> std::string {
    machine_.spend(1 + one.size() * (1 + pattern.size()) / 64);
    if (op == "#" || op == "##") return without_prefix(one, pattern, op.size() == 2);
    if (op == "%" || op == "%%") return without_suffix(one, pattern, op.size() == 2);
    if (op[0] == '/') return replaced(one, op, pattern, by);
    if (op[0] == '^' || op[0] == ',') return cased(one, op);
    return one;
  };
  if (has_mark(pattern)) return machine_.mark_of(marks(text + pattern), "${" + part.text + op + "...}");
  if (!has_mark(text)) return apply(text);
  std::vector<Strings> all;
  for (const std::string& reading : machine_.unknowns().readings(text)) {
    if (has_mark(reading)) return machine_.mark_of(marks(text), "${" + part.text + op + "...}");
    Strings one{apply(reading)};
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  }
  if (all.size() == 1) return all.front().front();
  return mark(machine_.unknowns().add({.what = "${" + part.text + op + "...}",
                                       .line = machine_.line(),
                                       .causes = marks(text),
                                       .alternatives = std::move(all)}));
}

void Expansion::operate(const Part& part, ParameterValue& found) {
  const bool of_script = part.op == ":" && (part.text == "@" || part.text == "*");  // has $0 at least
  if (part.op.empty() || (found.words.empty() && !of_script)) return;
  if (part.op == ":") return slice(part, found);
  if (part.op == "@") {  // ${name@Q} and its like
    for (std::string& word : found.words) word = machine_.mark_of(marks(word), "${" + part.text + "@...}");
    return;
  }
  const bool shared = std::string_view("#%/^,").find(part.op[0]) != std::string_view::npos;
  if (!shared) return;
  for (std::string& word : found.words) word = operated(part, word);
}

}  // namespace debubble::shell
