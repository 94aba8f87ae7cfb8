// read, mapfile and getopts.
#include <utility>

#include "formats/shell/builtin_words.hpp"
#include "sim/core/numbers.hpp"

namespace debubble::shell {
namespace {

// The next line of the input; nothing at its end.
std::optional<std::string> next_line(std::string& input, char separator = '\n') {
  if (input.empty()) return std::nullopt;
  const std::size_t end = input.find(separator);
  std::string line = input.substr(0, end);
  input = end == std::string::npos ? "" : input.substr(end + 1);
  return line;
}

void give_fields(Machine& machine, const std::string& line, const Strings& names) {
  const std::string separators = machine.separators();
  const auto is_separator = [&](char c) { return separators.find(c) != std::string::npos; };
  const auto is_blank = [&](char c) { return is_separator(c) && (c == ' ' || c == '\t' || c == '\n'); };
  std::size_t at = 0;
  std::size_t end = line.size();
  while (at < end && is_blank(line[at])) ++at;
  while (end > at && is_blank(line[end - 1])) --end;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (k + 1 == names.size()) {
      machine.assign(names[k], line.substr(at, end - at));
      break;
    }
    const std::size_t begin = at;
    while (at < end && !is_separator(line[at])) ++at;
    machine.assign(names[k], line.substr(begin, at - begin));
    while (at < end && is_blank(line[at])) ++at;
    if (at < end && is_separator(line[at]) && !is_blank(line[at])) ++at;
    while (at < end && is_blank(line[at])) ++at;
  }
}

void give_array(Machine& machine, const std::string& line, const std::string& name) {
  Variable array{.array = true};
  const std::string separators = machine.separators();
  std::string item;
  std::int64_t next = 0;
  for (const char c : line + separators.substr(0, 1)) {
    if (separators.find(c) == std::string::npos) {
      item += c;
      continue;
    }
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (!item.empty() || (!blank && next > 0)) array.items[next++] = item;
    item.clear();
  }
  machine.state().variables[machine.target_of(name)] = array;
}

}  // namespace

Flow run_read(Machine& machine, const Strings& words, const Command&) {
  Strings names;
  std::string array;
  char end = '\n';
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string& word = words[k];
    if (word.size() < 2 || word[0] != '-') {
      names.push_back(word);
    } else if (const std::size_t letter = word.find('d'); letter != std::string::npos) {
      std::string value = word.substr(letter + 1);
      if (value.empty() && k + 1 < words.size()) value = words[++k];
      end = value.empty() ? '\0' : value[0];
    } else if (word.find('a') != std::string::npos) {
      if (k + 1 < words.size()) array = words[++k];
    } else if (std::string_view("ptnNui").find(word.back()) != std::string_view::npos) {
      ++k;
    }
  }
  if (names.empty()) names = {"REPLY"};
  State& state = machine.state();
  if (!state.input) {
    const std::string text = machine.unknown_output({"read", names.front()});
    if (array.empty()) {
      for (const std::string& name : names) machine.assign(name, text);
    } else {
      machine.assign(array, text);
    }
    state.status = Status{0, false, marks(text)};
    return {};
  }
  const bool closed = state.input->find(end) != std::string::npos;
  const std::optional<std::string> line = next_line(*state.input, end);
  if (array.empty()) {
    give_fields(machine, line.value_or(""), names);
  } else {
    give_array(machine, line.value_or(""), array);
  }
  // What ends without its separator fails, unless nobody knows where it ends.
  machine.finish(line && (closed || has_mark(*line)) ? 0 : 1);
  return {};
}

Flow run_mapfile(Machine& machine, const Strings& words, const Command&) {
  const bool bare = has_option(words, 't');
  const std::string name = words.size() > 1 && words.back()[0] != '-' ? words.back() : "MAPFILE";
  State& state = machine.state();
  if (!state.input) {
    machine.assign(name, machine.unknown_output(words));
    return done(machine);
  }
  Variable array{.array = true};
  std::int64_t next = 0;
  std::string input = *state.input;
  while (const auto line = next_line(input)) array.items[next++] = *line + (bare ? "" : "\n");
  state.variables[machine.target_of(name)] = array;
  state.input = "";
  return done(machine);
}

// getopts "ab:" name
Flow run_getopts(Machine& machine, const Strings& words, const Command&) {
  if (words.size() < 3) throw CommandFailure{2};
  const Strings given = words.size() > 3 ? rest(words, 3) : machine.state().positional;
  const std::string place = machine.value_of("OPTIND");
  std::string_view rest_of_place = place;
  std::size_t at = take_whole<std::size_t>(rest_of_place).value_or(1);
  const std::string inner = machine.state().variables.contains("__getopts") ? machine.value_of("__getopts") : "1";
  std::string_view rest_of_inner = inner;
  std::size_t letter = take_whole<std::size_t>(rest_of_inner).value_or(1);
  const auto stop = [&] {
    machine.assign(words[2], "?");
    machine.finish(1);
    return Flow{};
  };
  if (at < 1 || at > given.size()) return stop();
  const std::string& word = given[at - 1];
  if (has_mark(word)) {
    machine.assign(words[2], machine.mark_of(marks(word), "an option"));
    machine.state().status = Status{0, false, marks(word)};
    return {};
  }
  if (word.size() < 2 || word[0] != '-') return stop();
  if (word == "--") {
    machine.assign("OPTIND", std::to_string(at + 1));
    return stop();
  }
  const char c = word[std::min(letter, word.size() - 1)];
  const std::size_t known = words[1].find(c);
  const bool valued = known != std::string::npos && known + 1 < words[1].size() && words[1][known + 1] == ':';
  const bool last = letter + 1 >= word.size();
  std::size_t next = last ? at + 1 : at;
  std::size_t next_letter = last ? 1 : letter + 1;
  if (valued) {
    const std::string value = last ? (at < given.size() ? given[at] : "") : word.substr(letter + 1);
    machine.assign("OPTARG", value);
    next = last ? at + 2 : at + 1;
    next_letter = 1;
  }
  machine.assign(words[2], known == std::string::npos ? "?" : std::string(1, c));
  machine.assign("OPTIND", std::to_string(next));
  machine.assign("__getopts", std::to_string(next_letter));
  machine.finish(0);
  return {};
}

}  // namespace debubble::shell
