// The commands that the shell itself has.
#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "formats/shell/builtin_words.hpp"
#include "formats/shell/machine.hpp"
#include "formats/shell/printf.hpp"

namespace debubble::shell {
namespace {

using Builtin = Flow (*)(Machine&, const Strings&, const Command&);

Flow run_nothing(Machine& machine, const Strings&, const Command&) { return done(machine); }

Flow run_false(Machine& machine, const Strings&, const Command&) {
  machine.finish(1);
  return {};
}

Flow run_echo(Machine& machine, const Strings& words, const Command&) {
  std::size_t at = 1;
  bool escapes = false;
  bool newline = true;
  for (; at < words.size() && words[at].size() > 1 && words[at][0] == '-'; ++at) {
    if (words[at].find_first_not_of("neE", 1) != std::string::npos) break;
    for (const char c : words[at].substr(1)) {
      if (c == 'n') newline = false;
      if (c == 'e') escapes = true;
      if (c == 'E') escapes = false;
    }
  }
  std::string text;
  for (std::size_t k = at; k < words.size(); ++k) text += (k > at ? " " : "") + words[k];
  if (escapes) text = unescaped(text);
  machine.print(text + (newline ? "\n" : ""));
  return done(machine);
}

Flow run_printf(Machine& machine, const Strings& words, const Command&) {
  std::size_t at = 1;
  std::string target;
  if (at + 1 < words.size() && words[at] == "-v") {
    target = words[at + 1];
    at += 2;
  }
  if (at < words.size() && words[at] == "--") ++at;
  if (at >= words.size()) throw CommandFailure{2};
  const std::vector<int> unknown = marks(words[at]);
  const std::string text = unknown.empty() ? printf_text(words[at], rest(words, at + 1),
                                                         [&machine](const std::vector<int>& causes) {
                                                           return machine.mark_of(causes, "what printf makes of it");
                                                         })
                                           : machine.mark_of(unknown, "what printf prints");
  if (target.empty()) {
    machine.print(text);
  } else {
    machine.assign(target, text);
  }
  return done(machine);
}

Flow change_folder(Machine& machine, const std::string& folder) {
  const std::string whole = machine.path_of(folder);
  machine.assign("OLDPWD", machine.state().folder);
  machine.state().folder = whole;
  machine.assign("PWD", whole);
  return done(machine);
}

Flow run_cd(Machine& machine, const Strings& words, const Command&) {
  std::size_t at = 1;
  while (at < words.size() && words[at].size() > 1 && words[at][0] == '-') ++at;
  const std::string folder = at < words.size() ? words[at] : machine.value_of("HOME");
  return change_folder(machine, folder == "-" ? machine.value_of("OLDPWD") : folder);
}

Flow print_folders(Machine& machine) {
  std::string text = machine.state().folder;
  const Strings& left = machine.state().left_folders;
  for (auto folder = left.rbegin(); folder != left.rend(); ++folder) text += " " + *folder;
  machine.print(text + "\n");
  return done(machine);
}

// pushd folder; pushd alone exchanges the two on top
Flow run_pushd(Machine& machine, const Strings& words, const Command&) {
  Strings& left = machine.state().left_folders;
  std::string folder = words.size() > 1 ? words.back() : "";
  if (words.size() < 2) {
    if (left.empty()) throw CommandFailure{};
    folder = std::exchange(left.back(), machine.state().folder);
  } else {
    left.push_back(machine.state().folder);
  }
  (void)change_folder(machine, folder);
  return print_folders(machine);
}

Flow run_popd(Machine& machine, const Strings&, const Command&) {
  Strings& left = machine.state().left_folders;
  if (left.empty()) throw CommandFailure{};
  const std::string folder = left.back();
  left.pop_back();
  (void)change_folder(machine, folder);
  return print_folders(machine);
}

Flow run_pwd(Machine& machine, const Strings&, const Command&) {
  machine.print(machine.state().folder + "\n");
  return done(machine);
}

Flow run_set(Machine& machine, const Strings& words, const Command&) {
  State& state = machine.state();
  const auto option = [&state](char letter, bool on) {
    if (letter == 'e') state.stops_on_error = on;
    if (letter == 'a') state.exports_all = on;
  };
  std::size_t at = 1;
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") {
      state.positional = rest(words, at + 1);
      state.positional_given = true;
      break;
    }
    if (word.size() < 2 || (word[0] != '-' && word[0] != '+')) {
      state.positional = rest(words, at);
      state.positional_given = true;
      break;
    }
    const bool on = word[0] == '-';
    for (const char letter : word.substr(1)) {
      if (letter != 'o') {
        option(letter, on);
        continue;
      }
      const std::string name = at + 1 < words.size() ? words[++at] : "";
      if (name == "pipefail") state.fails_in_pipes = on;
      if (name == "errexit") option('e', on);
      if (name == "allexport") option('a', on);
    }
  }
  return done(machine);
}

Flow run_shift(Machine& machine, const Strings& words, const Command&) {
  Strings& all = machine.state().positional;
  const int count = number_or(words, 1, 1);
  const bool enough = count >= 0 && static_cast<std::size_t>(count) <= all.size();
  if (enough) all.erase(all.begin(), all.begin() + count);
  machine.finish(enough ? 0 : 1);
  return {};
}

Flow run_exit(Machine& machine, const Strings& words, const Command&) {
  if (words.size() > 1) machine.finish(number_or(words, 1, 2) & 255);
  machine.stop("exit " + (words.size() > 1 ? shown(words[1], machine.unknowns()) : std::string("")));
  return Flow{Flow::Kind::kExit};
}

Flow run_return(Machine& machine, const Strings& words, const Command&) {
  if (words.size() > 1) {
    if (has_mark(words[1])) {
      machine.state().status = Status{0, false, marks(words[1])};
    } else {
      machine.finish(number_or(words, 1, 2) & 255);
    }
  }
  return Flow{Flow::Kind::kReturn};
}

Flow run_break(Machine&, const Strings& words, const Command&) {
  return Flow{words.front() == "break" ? Flow::Kind::kBreak : Flow::Kind::kContinue, number_or(words, 1, 1)};
}

// What these print for `eval` finds programs; no training's arguments are in it.
constexpr std::string_view kToolOutputs[] = {"the output of `conda ", "the output of `mamba ",
                                             "the output of `micromamba ", "the output of `pyenv ",
                                             "the output of `ssh-agent"};

Flow run_eval(Machine& machine, const Strings& words, const Command&) {
  std::string text;
  for (std::size_t k = 1; k < words.size(); ++k) text += (k > 1 ? " " : "") + words[k];
  machine.finish(0);
  if (is_mark(text)) {
    const std::string what = machine.unknowns().at(marks(text).front()).what;
    const bool tool = std::any_of(std::begin(kToolOutputs), std::end(kToolOutputs),
                                  [&what](std::string_view start) { return what.starts_with(start); });
    if (!tool) machine.set_elsewhere("`eval` of " + what);
    return done(machine);
  }
  return machine.run_text(text, machine.line());
}

Flow run_source(Machine& machine, const Strings& words, const Command&) {
  if (words.size() < 2) throw CommandFailure{2};
  return machine.run_file(words[1], rest(words, 2), words.size() > 2);
}

Flow run_test(Machine& machine, const Strings& words, const Command&) {
  Strings inside = rest(words);
  if (words.front() == "[") {
    if (inside.empty() || inside.back() != "]") throw CommandFailure{2};
    inside.pop_back();
  }
  machine.finish(machine.test(inside));
  return {};
}

Flow run_let(Machine& machine, const Strings& words, const Command&) {
  Answer last;
  for (std::size_t k = 1; k < words.size(); ++k) {
    const ArithmeticResult result = machine.arithmetic(words[k]);
    last = Answer{result.value != 0, result.known, result.causes};
  }
  machine.finish(last);
  return {};
}

Flow run_unset(Machine& machine, const Strings& words, const Command&) {
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string& word = words[k];
    if (word == "-v") continue;
    if (word == "-n") {
      for (++k; k < words.size(); ++k) machine.state().variables.erase(words[k]);
      break;
    }
    if (word == "-f") {
      for (++k; k < words.size(); ++k) machine.state().functions.erase(words[k]);
      break;
    }
    const std::size_t bracket = word.find('[');
    const bool item = bracket != std::string::npos && word.back() == ']';
    machine.unset(word.substr(0, bracket), item ? word.substr(bracket + 1, word.size() - bracket - 2) : "");
  }
  return done(machine);
}

// What `local` hides comes back when the function ends.
void hide(Machine& machine, const std::string& name) {
  State& state = machine.state();
  if (!state.frames.empty()) state.hide(name, state.frames.back().saved);
}

// A local variable refers to nothing, whatever the one does that it hides.
void forget_reference(Machine& machine, const std::string& name) {
  auto& variables = machine.state().variables;
  const auto found = variables.find(name);
  const bool refers = found != variables.end() && !found->second.refers_to.empty();
  if (refers && !machine.state().frames.empty()) variables.erase(found);
}

Flow run_declare(Machine& machine, const Strings& words, const Command& command) {
  const std::string& verb = words.front();
  const bool local = verb == "local" || ((verb == "declare" || verb == "typeset") && !has_option(words, 'g'));
  const bool exports = verb == "export" || has_option(words, 'x');
  const bool refers = verb != "export" && has_option(words, 'n');
  if (has_option(words, 'f') || has_option(words, 'F')) {
    const Strings names = rest(words);
    if (exports) machine.state().exported_functions.insert(names.begin(), names.end());
    return done(machine);
  }
  const auto attributes = [&](const std::string& name) {
    Variable& variable = machine.variable(machine.target_of(name));
    if (exports) variable.exported = !(verb == "export" && has_option(words, 'n'));
    if (verb == "export") return;
    if (has_option(words, 'A')) variable.has_keys = true;
    if (has_option(words, 'a')) variable.array = true;
    if (has_option(words, 'i')) variable.integer = true;
  };
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string& word = words[k];
    if (word.starts_with("-") || word.starts_with("+")) continue;
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (has_mark(name)) {
      machine.set_elsewhere("`" + verb + "` of " + shown(word, machine.unknowns()));
      continue;
    }
    if (local) hide(machine, name);
    if (refers) {
      machine.refer(name, equals == std::string::npos ? "" : word.substr(equals + 1));
      continue;
    }
    if (local) forget_reference(machine, name);
    if (local && !machine.state().frames.empty() && equals == std::string::npos) {
      machine.state().variables[name] = Variable{};
    }
    if (equals != std::string::npos) machine.assign(name, word.substr(equals + 1));
    if (exports && equals == std::string::npos && !machine.state().variables.contains(name)) continue;
    attributes(name);
  }
  for (const Assignment& assignment : command.declared) {
    if (local) hide(machine, assignment.name);
    if (refers) {
      machine.refer(assignment.name, machine.single(assignment.value));
      continue;
    }
    if (local) forget_reference(machine, assignment.name);
    const bool fresh = !assignment.append && has_option(words, 'A');
    if (fresh) machine.state().variables[assignment.name] = Variable{.has_keys = true};
    if (!fresh && !assignment.append && has_option(words, 'i')) machine.variable(assignment.name).integer = true;
    machine.assign(assignment);
    attributes(assignment.name);
  }
  if (command.declared.empty() || machine.state().status.known) machine.finish(0);
  return {};
}

Flow run_command(Machine& machine, const Strings& words, const Command& command) {
  const bool asks = words.size() > 1 && (words[1] == "-v" || words[1] == "-V");
  const bool where = words.front() == "which" || words.front() == "type" || words.front() == "hash";
  if (asks || where) {
    // Where a program lies is not known, but that it is this one.
    if (words.size() > 1 && (words[1] == "-v" || words.front() == "which")) machine.print(words.back() + "\n");
    machine.finish_unknown("whether there is " + (words.size() > 1 ? words.back() : "a program"));
    return {};
  }
  if (words.size() < 2) return done(machine);
  const Strings inner = rest(words);
  Flow flow;
  if (machine.builtin(inner, command, flow)) return flow;
  return machine.external(inner);
}

Flow run_exec(Machine& machine, const Strings& words, const Command&) {
  std::size_t at = 1;
  if (at + 1 < words.size() && words[at] == "-a") at += 2;
  if (at >= words.size()) return done(machine);
  (void)machine.external(rest(words, at));
  machine.stop("exec " + shown(words[at], machine.unknowns()));
  return Flow{Flow::Kind::kExit};
}

const std::map<std::string, Builtin>& builtins() {
  static const std::map<std::string, Builtin> all{
      {":", run_nothing},       {"true", run_nothing},      {"false", run_false},
      {"echo", run_echo},       {"printf", run_printf},     {"cd", run_cd},
      {"pushd", run_pushd},     {"pwd", run_pwd},           {"set", run_set},
      {"shift", run_shift},     {"exit", run_exit},         {"return", run_return},
      {"break", run_break},     {"continue", run_break},    {"eval", run_eval},
      {"source", run_source},   {".", run_source},          {"[", run_test},
      {"test", run_test},       {"let", run_let},           {"unset", run_unset},
      {"declare", run_declare}, {"typeset", run_declare},   {"local", run_declare},
      {"export", run_declare},  {"readonly", run_declare},  {"read", run_read},
      {"mapfile", run_mapfile}, {"readarray", run_mapfile}, {"getopts", run_getopts},
      {"command", run_command}, {"builtin", run_command},   {"type", run_command},
      {"which", run_command},   {"hash", run_command},      {"exec", run_exec},
      {"trap", run_nothing},    {"shopt", run_nothing},     {"wait", run_nothing},
      {"ulimit", run_nothing},  {"umask", run_nothing},     {"alias", run_nothing},
      {"unalias", run_nothing}, {"popd", run_popd},         {"jobs", run_nothing},
      {"disown", run_nothing},  {"times", run_nothing},     {"enable", run_nothing}};
  return all;
}

}  // namespace

bool Machine::builtin(const Strings& words, const Command& command, Flow& flow) {
  const auto found = builtins().find(words.front());
  if (found == builtins().end()) return false;
  flow = found->second(*this, words, command);
  return true;
}

void Machine::stop(const std::string& what) {
  stopped_ = what;
  stopped_line_ = line_;
}

}  // namespace debubble::shell
