// Simple commands, redirections, files, and the whole run.
#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <utility>

#include "formats/shell/machine.hpp"

namespace debubble::shell {
namespace {

constexpr std::size_t kLargestFile = 1'000'000;

std::string normal(const std::string& path) {
  Strings parts;
  std::istringstream stream(path);
  for (std::string part; std::getline(stream, part, '/');) {
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != ".." && !has_mark(parts.back())) {
      parts.pop_back();
    } else {
      parts.push_back(part);
    }
  }
  std::string all;
  for (const std::string& part : parts) all += "/" + part;
  return all.empty() ? "/" : all;
}

struct ShortOption {
  char letter;
  const char* name;
};
constexpr std::array<ShortOption, 8> kShortOptions{{{'N', "nodes"},
                                                    {'n', "ntasks"},
                                                    {'c', "cpus-per-task"},
                                                    {'G', "gpus"},
                                                    {'J', "job-name"},
                                                    {'p', "partition"},
                                                    {'t', "time"},
                                                    {'A', "account"}}};

bool reads_itself(const Word& word, const std::string& name) {
  return std::any_of(word.parts.begin(), word.parts.end(), [&name](const Part& part) {
    return (part.kind == Part::Kind::kParameter && part.text == name) ||
           (part.argument && reads_itself(*part.argument, name));
  });
}

}  // namespace

std::map<std::string, std::string> batch_options(const std::string& text) {
  std::map<std::string, std::string> options;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // Slurm reads no further than the first command: what a here-document has is another job's.
    const std::size_t text_begin = line.find_first_not_of(" \t\r");
    if (text_begin != std::string::npos && line[text_begin] != '#') break;
    if (!line.starts_with("#SBATCH")) continue;
    std::istringstream words(line.substr(7));
    std::string name;
    if (!(words >> name) || name.size() < 2 || name[0] != '-') continue;
    std::string value;
    if (name[1] == '-') {
      const std::size_t equals = name.find('=');
      if (equals == std::string::npos) {
        words >> value;
        name = name.substr(2);
      } else {
        value = name.substr(equals + 1);
        name = name.substr(2, equals - 2);
      }
    } else {
      value = name.substr(2);
      if (value.empty()) words >> value;
      const auto* const found = std::find_if(kShortOptions.begin(), kShortOptions.end(),
                                             [&name](const ShortOption& one) { return one.letter == name[1]; });
      if (found == kShortOptions.end()) continue;
      name = found->name;
    }
    if (value.starts_with("#")) value.clear();
    options[name] = value;
  }
  return options;
}

Machine::Machine(const Given& given) : given_(given), zero_(given.path) {
  for (const auto& [name, value] : given.variables) {
    Variable& variable = state_.variables[name];
    variable.items[0] = value;
    variable.exported = true;
  }
  state_.folder = given.folder;
  state_.positional_given = given.arguments_given;
  const int most = given.arguments.empty() ? 0 : std::min(given.arguments.rbegin()->first, 1000);
  for (int k = 1; k <= most; ++k) {
    const auto found = given.arguments.find(k);
    state_.positional.push_back(found == given.arguments.end() ? mark(unknowns_.positional(std::to_string(k), 0))
                                                               : found->second);
  }
  for (const auto& [path, content] : given.files) state_.files[path_of(path)] = File{content};
}

Evaluation Machine::run(const std::string& text) {
  const auto control = [](char c) { return c == '\x01' || c == '\x02' || c == '\0'; };
  if (std::any_of(text.begin(), text.end(), control)) throw SyntaxError(1, "the script has control characters");
  if (text.size() > 4 * kLargestFile) throw SyntaxError(1, "the script is larger than 4 MB");
  state_.batch = batch_options(text);
  set_batch_variables(text, false);
  const CommandPointer commands = parse_script(text);
  collect_names(*commands);
  Flow flow = execute(*commands);
  // What came to an end without any training is not what somebody wants to know about.
  const bool here = !state_.launches.empty() || !state_.handed_on.empty();
  bool any = here;
  for (Parked& one : parked_) {
    const bool trains = !one.state.launches.empty() || !one.state.handed_on.empty();
    if (!trains) continue;
    if (any) {
      merge(state_, one.state, one.causes, unknowns_, one.line);
    } else {
      state_ = std::move(one.state);
      any = true;
    }
  }
  Evaluation result;
  if (!any && !flow.normal()) {
    result.stopped = stopped_.empty() ? "exit" : stopped_;
    result.stopped_line = stopped_line_;
  }
  result.launches = std::move(state_.launches);
  result.handed_on = std::move(state_.handed_on);
  result.notes = std::move(notes_);
  result.unset.assign(unset_.begin(), unset_.end());
  result.unknowns = std::move(unknowns_);
  return result;
}

// What Slurm sets in a job's environment, by the script's own #SBATCH lines.
std::vector<BatchVariable> batch_variables(const std::map<std::string, std::string>& options) {
  std::vector<BatchVariable> all;
  const auto set = [&](const char* option, std::initializer_list<const char*> names) {
    const auto found = options.find(option);
    if (found == options.end() || found->second.empty()) return;
    const bool number = std::all_of(found->second.begin(), found->second.end(),
                                    [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
    if (!number && std::string_view(option) != "job-name") return;
    for (const char* name : names) all.push_back({name, found->second, option});
  };
  set("nodes", {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
  set("ntasks-per-node", {"SLURM_NTASKS_PER_NODE"});
  set("ntasks", {"SLURM_NTASKS", "SLURM_NPROCS"});
  set("cpus-per-task", {"SLURM_CPUS_PER_TASK"});
  set("gpus-per-node", {"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"});
  set("job-name", {"SLURM_JOB_NAME"});
  return all;
}

void Machine::set_batch_variables(const std::string& text, bool inner) {
  if (given_.whole_environment && !inner) return;
  for (const auto& [name, value, option] : batch_variables(state_.batch)) {
    if (given_.variables.contains(name) || state_.variables.contains(name)) continue;
    Variable& variable = state_.variables[name];
    variable.items[0] = value;
    variable.exported = true;
    if (text.find(name) != std::string::npos) {
      note(name + " is taken to be " + value + ", as #SBATCH --" + option + " says", 0);
    }
  }
}

void Machine::collect_names(const Command& command) {
  spend(1);
  const auto add = [this](const Assignment& assignment) {
    if (!reads_itself(assignment.value, assignment.name)) own_names_.insert(assignment.name);
  };
  for (const Assignment& assignment : command.assignments) add(assignment);
  for (const Assignment& assignment : command.declared) add(assignment);
  if (command.kind == Command::Kind::kFor) own_names_.insert(command.name);
  for (const CommandPointer& child : command.children) collect_names(*child);
  for (const CaseClause& clause : command.clauses) collect_names(*clause.body);
}

Flow Machine::simple(const Command& command) {
  line_ = command.line;
  const Strings words = fields(command.words);
  if (words.empty()) {
    const std::size_t before = substitutions_;
    for (const Assignment& assignment : command.assignments) assign(assignment);  // they may read $?
    if (command.words.empty() && substitutions_ == before) finish(0);
    if (command.redirections.empty()) return after({});
    const Status status = state_.status;
    const Flow flow = redirected(command, [] { return Flow{}; });
    state_.status = status;
    return after(flow);
  }
  // NAME=value command: for this command alone.
  HiddenVariables hidden;
  for (const Assignment& assignment : command.assignments) {
    state_.hide(assignment.name, hidden);
    assign(assignment);
    state_.variables[assignment.name].exported = true;
  }
  const bool only_redirects = words.front() == "exec" && words.size() == 1;
  const Flow flow = command.redirections.empty() || only_redirects
                        ? run_words(command, words)
                        : redirected(command, [&] { return run_words(command, words); });
  state_.put_back(std::move(hidden));
  return after(flow);
}

Flow Machine::run_words(const Command& command, const Strings& words) {
  const auto function = state_.functions.find(words.front());
  if (function != state_.functions.end()) {
    const CommandPointer body = function->second;
    return call(*body, Strings(words.begin() + 1, words.end()));
  }
  Flow flow;
  if (builtin(words, command, flow)) return flow;
  return external(words);
}

void Machine::open_input(const Redirection& redirection) {
  if (redirection.op == "<<") {
    state_.input = single(redirection.target);
  } else if (redirection.op == "<<<") {
    state_.input = single(redirection.target) + "\n";
  } else {
    state_.input = read(single(redirection.target));
    if (!state_.input) state_.input = unknown_output({"<", single(redirection.target)});
  }
}

Flow Machine::redirected(const Command& command, const std::function<Flow()>& body) {
  const std::optional<std::string> input = state_.input;
  bool reads = false;
  std::optional<std::string> target;
  bool appends = false;
  bool dropped = false;
  for (const Redirection& one : command.redirections) {
    const bool in = one.op == "<" || one.op == "<<" || one.op == "<<<";
    if (in) {
      if (one.descriptor > 0) continue;
      open_input(one);
      reads = true;
      continue;
    }
    if (one.op == "<&" || one.op == "<>" || one.descriptor > 1) continue;
    const std::string where = single(one.target);
    if (one.op == ">&" && !where.empty() && (std::isdigit(static_cast<unsigned char>(where[0])) != 0 || where == "-")) {
      dropped = where != "1";
      continue;
    }
    dropped = where == "/dev/null" || where == "/dev/stderr" || where == "/dev/tty";
    target = dropped ? std::nullopt : std::optional(where);
    appends = one.op == ">>" || one.op == "&>>";
  }
  Flow flow;
  if (!target && !dropped) {
    flow = body();
  } else {
    const std::string text = caught([&] { flow = body(); });
    if (target && !target->starts_with("/dev/fd/")) write_file(*target, text, appends);
  }
  if (reads) state_.input = input;
  return flow;
}

void Machine::write_file(const std::string& path, const std::string& text, bool appends) {
  if (has_mark(text)) {  // what somebody gave for it holds
    for (const auto& [given, content] : given_.files) {
      if (path_of(given) == path_of(path)) return;
    }
  }
  File& file = state_.files[path_of(path)];
  const std::string before = appends && !file.folder ? file.content : "";
  file = File{before + text};
  spend(1 + file.content.size() / 64);
  if (file.content.size() > 4 * kLargestFile) throw SyntaxError(line_, "a file is larger than 4 MB");
}

std::string whole_path(const std::string& path, const std::string& folder) {
  // Where it begins with what is not known, that is where it lies.
  const bool whole = path.starts_with("/") || is_mark(path.substr(0, path.find('/')));
  const std::string all = whole ? path : folder + "/" + path;
  return all.starts_with("/") ? normal(all) : normal(all).substr(1);
}

std::string Machine::path_of(const std::string& path) const { return whole_path(path, state_.folder); }

std::string Machine::pipe_of(const std::string& output) {
  const std::string path = "/dev/fd/" + std::to_string(63 + files_made_++);
  state_.files[path] = File{output};
  return path;
}

std::optional<std::string> Machine::read(const std::string& path) {
  if (path == "/dev/null") return "";
  if (path == "/dev/stdin" || path == "-") return state_.input;
  const std::string whole = path_of(path);
  const auto found = state_.files.find(whole);
  if (found != state_.files.end()) {
    if (found->second.folder || found->second.lost) return std::nullopt;
    return found->second.content;
  }
  if (has_mark(whole) || !given_.read) return std::nullopt;
  std::optional<std::string> text = given_.read(whole);
  if (!text || text->size() > kLargestFile || text->find_first_of("\x01\x02") != std::string::npos ||
      text->find('\0') != std::string::npos) {
    return std::nullopt;
  }
  spend(1 + text->size() / 64);
  state_.files[whole] = File{*text};
  return text;
}

Answer Machine::is_there(const std::string& path, char kind) {
  if (path.empty()) return Answer{false, true};
  const std::string whole = path_of(path);
  const auto found = state_.files.find(whole);
  if (found != state_.files.end()) {
    if (found->second.lost) return Answer{false, true};
    const bool full = !found->second.content.empty();
    if (kind == 's') return Answer{full, !has_mark(found->second.content) || full};
    return Answer{kind == 'd' ? found->second.folder : kind == 'f' ? !found->second.folder : kind != 'x', true};
  }
  if (!has_mark(whole) && kind != 'd' && kind != 'x' && read(path)) return Answer{true, true};
  return Answer{
      false, false, {unknowns_.add({.what = "whether there is a file " + shown(path, unknowns_), .line = line_})}};
}

void Machine::print(const std::string& text) {
  if (!state_.caught) return;
  state_.output += text;
  spend(1 + text.size() / 64);
  if (state_.output.size() > 4 * kLargestFile) throw SyntaxError(line_, "a command prints more than 4 MB");
}

std::string Machine::unknown_output(const Strings& words) {
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
  command = shown(command, unknowns_);
  if (command.size() > 60) command = command.substr(0, 57) + "...";
  return mark(unknowns_.add({.what = "the output of `" + command + "`", .line = line_}));
}

// A mark is told from text by its first character, so no text may bring one.
Evaluation evaluate_script(const std::string& text, const Given& given) {
  const auto refuse = [](const std::string& value) {
    if (value.find_first_of("\x01\x02") == std::string::npos && value.find('\0') == std::string::npos) return;
    throw SyntaxError(1, "what is given beside the script has control characters");
  };
  for (const auto& [name, value] : given.variables) refuse(name + value);
  for (const auto& [place, value] : given.arguments) refuse(value);
  for (const auto& [path, content] : given.files) refuse(path + content);
  refuse(given.path + given.folder);
  return Machine(given).run(text);
}

}  // namespace debubble::shell
