#include "formats/shell/state.hpp"

#include <algorithm>
#include <utility>

namespace debubble::shell {
namespace {

using Words = std::vector<std::string>;

Words words_of(const Variable& variable) {
  Words words;
  for (const auto& [index, value] : variable.items) words.push_back(value);
  return words;
}

std::vector<int> all_causes(const std::vector<int>& causes, const Words& a, const Words& b) {
  std::vector<int> all = causes;
  for (const Words* words : {&a, &b}) {
    for (const std::string& word : *words) {
      for (const int number : marks(word)) all.push_back(number);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Alternatives of alternatives are all on one level; too many of them are none.
void add_alternatives(const Words& words, const Unknowns& unknowns, std::vector<Words>& all) {
  const bool nested = words.size() == 1 && is_mark(words.front());
  const std::vector<int> inside = nested ? marks(words.front()) : std::vector<int>{};
  if (nested && unknowns.has(inside.front()) && !unknowns.at(inside.front()).alternatives.empty()) {
    for (const Words& one : unknowns.at(inside.front()).alternatives) {
      if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
    }
    return;
  }
  if (std::find(all.begin(), all.end(), words) == all.end()) all.push_back(words);
}

int joined(const Words& a, const Words& b, const std::vector<int>& causes, const std::string& what, Unknowns& unknowns,
           int line) {
  std::vector<Words> alternatives;
  add_alternatives(a, unknowns, alternatives);
  add_alternatives(b, unknowns, alternatives);
  if (alternatives.size() > 8) alternatives.clear();
  return unknowns.add(
      {.what = what, .line = line, .causes = all_causes(causes, a, b), .alternatives = std::move(alternatives)});
}

void merge_variable(const std::string& name, Variable& ours, const Variable& other, const std::vector<int>& causes,
                    Unknowns& unknowns, int line) {
  if (ours == other) return;
  if (ours.items != other.items || ours.array != other.array) {
    const Words a = words_of(ours);
    const Words b = words_of(other);
    const int number = joined(a, b, causes, "the value of " + name, unknowns, line);
    ours.items = {{0, mark(number)}};
  }
  if (ours.keyed != other.keyed) {
    for (const auto& [key, value] : other.keyed) ours.keyed.emplace(key, "");
    for (auto& [key, value] : ours.keyed) {
      const auto found = other.keyed.find(key);
      const std::string theirs = found == other.keyed.end() ? "" : found->second;
      if (value != theirs) value = mark(joined({value}, {theirs}, causes, "the value of " + name, unknowns, line));
    }
  }
  ours.array = ours.array || other.array;
  ours.has_keys = ours.has_keys || other.has_keys;
  ours.exported = ours.exported || other.exported;
}

void merge_variables(State& state, const State& other, const std::vector<int>& causes, Unknowns& unknowns, int line) {
  // One that only a branch sets is empty without it: it is the script's own.
  const auto half = [&](const std::string& name, Variable& variable) {
    const Words words = words_of(variable);
    variable.items = {{0, mark(joined(words, {}, causes, "the value of " + name, unknowns, line))}};
  };
  for (auto& [name, variable] : state.variables) {
    const auto found = other.variables.find(name);
    if (found == other.variables.end()) {
      half(name, variable);
    } else {
      merge_variable(name, variable, found->second, causes, unknowns, line);
    }
  }
  for (const auto& [name, variable] : other.variables) {
    if (state.variables.contains(name)) continue;
    Variable added = variable;
    half(name, added);
    state.variables.emplace(name, std::move(added));
  }
}

void merge_files(State& state, const State& other, const std::vector<int>& causes, Unknowns& unknowns, int line) {
  for (auto& [path, file] : state.files) {
    const auto found = other.files.find(path);
    if (found == other.files.end()) {
      if (!file.folder) file.content = mark(unknowns.derived(causes, "whether " + path + " is written", line));
    } else if (!(file == found->second)) {
      file.content =
          mark(joined({file.content}, {found->second.content}, causes, "what is in " + path, unknowns, line));
    }
  }
  for (const auto& [path, file] : other.files) {
    if (state.files.contains(path)) continue;
    File added = file;
    if (!file.folder) added.content = mark(unknowns.derived(causes, "whether " + path + " is written", line));
    state.files.emplace(path, std::move(added));
  }
}

void merge_launches(State& state, const State& other, const std::vector<int>& causes) {
  std::size_t same = 0;
  while (same < state.launches.size() && same < other.launches.size() &&
         state.launches[same].same_command(other.launches[same])) {
    ++same;
  }
  const auto depends = [&causes](Launch& launch) {
    launch.conditions.insert(launch.conditions.end(), causes.begin(), causes.end());
  };
  for (std::size_t k = same; k < state.launches.size(); ++k) depends(state.launches[k]);
  for (std::size_t k = same; k < other.launches.size(); ++k) {
    state.launches.push_back(other.launches[k]);
    depends(state.launches.back());
  }
  for (const std::string& script : other.handed_on) {
    if (std::find(state.handed_on.begin(), state.handed_on.end(), script) == state.handed_on.end()) {
      state.handed_on.push_back(script);
    }
  }
}

}  // namespace

void State::hide(const std::string& name, HiddenVariables& hidden) const {
  const auto found = variables.find(name);
  hidden.emplace(name, found == variables.end() ? std::nullopt : std::optional(found->second));
}

void State::put_back(HiddenVariables hidden) {
  for (auto& [name, value] : hidden) {
    if (value) {
      variables[name] = std::move(*value);
    } else {
      variables.erase(name);
    }
  }
}

std::size_t State::size() const {
  std::size_t bytes = output.size() + 64;
  for (const auto& [name, variable] : variables) {
    bytes += name.size() + 64;
    for (const auto& [index, value] : variable.items) bytes += value.size() + 48;
    for (const auto& [key, value] : variable.keyed) bytes += key.size() + value.size() + 48;
  }
  for (const auto& [path, file] : files) bytes += path.size() + file.content.size() + 64;
  for (const std::string& value : positional) bytes += value.size() + 32;
  for (const Launch& launch : launches) {
    for (const std::string& word : launch.arguments) bytes += word.size() + 32;
  }
  return bytes;
}

void merge(State& state, const State& other, const std::vector<int>& causes, Unknowns& unknowns, int line) {
  merge_variables(state, other, causes, unknowns, line);
  merge_files(state, other, causes, unknowns, line);
  merge_launches(state, other, causes);
  for (const auto& [name, body] : other.functions) state.functions.emplace(name, body);
  if (state.positional != other.positional) {
    const int number = unknowns.derived(causes, "the arguments that are left", line);
    state.positional = {mark(number)};
  }
  if (state.folder != other.folder) {
    state.folder = mark(joined({state.folder}, {other.folder}, causes, "the working directory", unknowns, line));
  }
  if (state.left_folders != other.left_folders) {
    state.left_folders = {mark(unknowns.derived(causes, "the folders that are left", line))};
  }
  for (const std::string& name : other.exported_functions) state.exported_functions.insert(name);
  if (state.output != other.output) {
    state.output = mark(joined({state.output}, {other.output}, causes, "what is printed", unknowns, line));
  }
  if (state.input != other.input) state.input.reset();
  if (!(state.status == other.status)) state.status = Status{.code = 0, .known = false, .causes = causes};
  state.stops_on_error = state.stops_on_error && other.stops_on_error;
}

}  // namespace debubble::shell
