// Programs that are started: launchers hand on to what they launch, shells are followed, training programs are kept.
#include <algorithm>
#include <cctype>
#include <utility>

#include "formats/shell/builtin_words.hpp"
#include "formats/shell/launcher_words.hpp"
#include "formats/shell/machine.hpp"
#include "sim/core/word_list.hpp"

namespace debubble::shell {
namespace {

std::string base_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

bool is_python(const std::string& word) {
  const std::string name = base_name(word);
  if (!name.starts_with("python")) return false;
  return name.find_first_not_of("0123456789.", 6) == std::string::npos;
}

constexpr std::string_view kShells = "bash sh zsh dash ksh";
constexpr std::string_view kStarters = "torchrun deepspeed accelerate torchrun-hpu";
// They hand on to a command that stands behind their own options.
constexpr std::string_view kWrappers =
    "srun mpirun mpiexec mpiexec.hydra mpirun_rsh env time nohup timeout nice ionice numactl taskset nsys ncu sudo "
    "stdbuf singularity docker apptainer enroot uv poetry conda pixi ray unbuffer setsid aprun jsrun flux xargs";

// They start a training by the name of what is to be done: ms-swift, LLaMA-Factory.
constexpr std::string_view kCommands = "megatron swift llamafactory-cli";

bool is_script(const std::string& word) {
  return word.ends_with(".sh") || word.ends_with(".slurm") || word.ends_with(".sbatch") || word.ends_with(".bash");
}

bool starts_command(const std::string& word) {
  const std::string name = base_name(word);
  return is_python(word) || is_word_in(kShells, name) || is_word_in(kStarters, name) || is_word_in(kWrappers, name) ||
         (word.ends_with(".py") && word[0] != '-') || (is_script(word) && word[0] != '-');
}

// torchrun's and deepspeed's options without a value.
constexpr std::string_view kBareOptions =
    "--standalone --no-python --no_python --run-path --run_path --use-env --use_env --no-use-env --force_multi "
    "--no_local_rank --no_ssh --no_ssh_check --save_pid --elastic_training --bind_cores_to_rank -m --module "
    "--enable_each_rank_log_off --signal-handling";

constexpr std::string_view kNoValue = "-u -B -O -OO -E -s -S -v -q -I -b -i -x -P";

// Where the launched program stands: behind the options of torchrun or deepspeed.
std::size_t behind_options(const Strings& words) {
  std::size_t at = 1;
  while (at < words.size() && !words[at].empty() && words[at][0] == '-') {
    if (words[at] == "--") return at + 1;
    const bool bare = is_word_in(kBareOptions, words[at]) || words[at].find('=') != std::string::npos;
    at += bare ? 1U : 2U;
  }
  return at;
}

}  // namespace

std::vector<std::string_view> launcher_names() {
  std::vector<std::string_view> names = words_in(kStarters);
  for (const std::string_view wrapper : words_in(kWrappers)) names.push_back(wrapper);
  return names;
}

class Starter {
 public:
  explicit Starter(Machine& machine) : machine_(machine) {}

  // False where nothing of it is a program that is followed.
  bool start(Strings words) {
    while (!words.empty() && is_assignment(words.front())) words.erase(words.begin());
    if (words.empty()) return false;
    if (++depth_ > 20) return false;
    const std::string name = base_name(words.front());
    if (name == "sbatch") {
      const Strings options(words.begin(), std::find_if(words.begin(), words.end(), is_script));
      return with_variables(options, [&] { return batch_job(words); });
    }
    if (name == "xargs") return xargs(words);
    if (name == "ssh" || name == "pdsh" || name == "clush") return remote(words, name);
    if (is_word_in(kShells, name)) return shell(words);
    if (is_python(words.front())) return python(words);
    if (is_word_in(kStarters, name) && name != "accelerate") return starter(words);
    if (words.front().ends_with(".py")) {
      keep(words.front(), rest(words));
      return true;
    }
    if (is_script(name) || words.front().starts_with("./")) return script(words, 0);
    if (is_word_in(kCommands, name) && words.size() > 1 && !words[1].starts_with("-")) {
      keep(name + " " + words[1], rest(words, 2));
      return true;
    }
    return wrapper(words);
  }

 private:
  // What the launcher's options set is there for what it starts.
  bool with_variables(const Strings& launcher, const std::function<bool()>& body) {
    HiddenVariables hidden;
    auto& variables = machine_.state().variables;
    for (const auto& [name, value] : handed_variables(launcher)) {
      machine_.state().hide(name, hidden);
      machine_.assign(name, value);
      variables[name].exported = true;
    }
    for (auto& [name, variable] : variables) {
      if (!variable.exported || hands_on(launcher, name)) continue;
      hidden.emplace(name, variable);
      variable.exported = false;
    }
    const bool started = body();
    machine_.state().put_back(std::move(hidden));
    return started;
  }

  bool xargs(const Strings& words) {
    const XargsWords found = xargs_words(machine_, words);
    if (!found.starts) {
      machine_.finish(0);
      return true;
    }
    const auto command = words.begin() + static_cast<std::ptrdiff_t>(found.command);
    if (found.command >= words.size()) return false;
    launchers_.emplace_back(words.begin(), command);
    Strings inner = rest(words, found.command);
    inner.insert(inner.end(), found.added.begin(), found.added.end());
    return start(inner);
  }

  void keep(const std::string& program, Strings arguments) {
    Launch launch;
    launch.launchers = launchers_;
    launch.program = program;
    launch.arguments = std::move(arguments);
    launch.line = machine_.line();
    launch.batch = machine_.state().batch;
    launch.files = std::make_shared<const std::map<std::string, File>>(machine_.state().files);
    launch.folder = machine_.state().folder;
    for (const char* name : {"SLURM_NTASKS", "CUDA_DEVICE_MAX_CONNECTIONS", "NPROC_PER_NODE", "NNODES"}) {
      const auto own = machine_.state().variables.find(name);
      const auto outside = machine_.given().variables.find(name);
      if (own != machine_.state().variables.end() && own->second.exported && !own->second.items.empty()) {
        launch.environment[name] = own->second.items.begin()->second;
      } else if (outside != machine_.given().variables.end()) {
        launch.environment[name] = outside->second;
      }
    }
    machine_.spend(1 + machine_.state().size() / 64);
    if (machine_.state().launches.size() < 2000) machine_.state().launches.push_back(std::move(launch));
  }

  bool wrapper(const Strings& words) {
    const bool known = is_word_in(kWrappers, base_name(words.front())) || base_name(words.front()) == "accelerate";
    for (std::size_t k = 1; k < words.size(); ++k) {
      if (!starts_command(words[k])) continue;
      // "--container-image python" of a wrapper is a value, but not of anything that is known here.
      const bool shell = is_word_in(kShells, base_name(words[k]));
      if (shell && k + 1 >= words.size()) continue;
      if (!known && !is_mark(words.front()) && !words[k].ends_with(".py") && !shell && !is_python(words[k]) &&
          !is_word_in(kStarters, base_name(words[k]))) {
        continue;
      }
      launchers_.emplace_back(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(k));
      const Strings launcher = launchers_.back();
      return with_variables(launcher, [&] { return start(rest(words, k)); });
    }
    return false;
  }

  bool starter(const Strings& words) {
    const std::size_t at = behind_options(words);
    if (at >= words.size()) return false;
    const auto bare = [&](const char* option) {
      return std::find(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at), option) !=
             words.begin() + static_cast<std::ptrdiff_t>(at);
    };
    launchers_.emplace_back(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
    const Strings inner = rest(words, at);
    if (bare("--no-python") || bare("--no_python")) return start(inner);
    keep(inner.front(), rest(inner));
    return true;
  }

  bool python(const Strings& words) {
    std::size_t at = 1;
    while (at < words.size() && words[at].size() > 1 && words[at][0] == '-') {
      if (words[at] == "-c" || words[at].starts_with("-c")) return false;
      if (words[at] == "-m") break;
      at += is_word_in(kNoValue, words[at]) || words[at].size() > 2 ? 1U : 2U;
    }
    if (at >= words.size()) return false;
    if (words[at] != "-m") {
      keep(words[at], rest(words, at + 1));
      return true;
    }
    if (at + 1 >= words.size()) return false;
    const std::string& module = words[at + 1];
    Strings inner = rest(words, at + 1);
    if (module.starts_with("torch.distributed") || module.starts_with("deepspeed.launcher")) {
      inner.front() = module.starts_with("deepspeed") ? "deepspeed" : "torchrun";
      return starter(inner);
    }
    if (module.starts_with("accelerate")) {
      inner.front() = "accelerate";
      return wrapper(inner);
    }
    keep(module, rest(inner));
    return true;
  }

  // bash -lc "text" name arguments; bash script arguments
  bool shell(const Strings& words) {
    std::size_t at = 1;
    bool text = false;
    bool asks = false;
    while (at < words.size() && words[at].size() > 1 && (words[at][0] == '-' || words[at][0] == '+')) {
      const std::string& option = words[at];
      if (option.starts_with("--")) {
        ++at;
        continue;
      }
      if (option.find('c') != std::string::npos) text = true;
      if (option.find('s') != std::string::npos) asks = true;
      at += option.ends_with("o") ? 2U : 1U;
      if (text) break;
    }
    while (text && at < words.size() && words[at].size() > 1 && words[at][0] == '-') ++at;
    const auto& input = machine_.state().input;
    if ((at >= words.size() || asks) && input) {  // from a here-document
      follow(*input, {}, true, "bash");
      return true;
    }
    if (at >= words.size()) return false;
    if (!text) return script(words, at);
    const std::string name = at + 1 < words.size() ? words[at + 1] : "bash";
    follow(words[at], rest(words, at + 2), false, name);
    return true;
  }

  void follow(const std::string& text, const Strings& arguments, bool is_file, const std::string& name) {
    machine_.follow(text, arguments, is_file, name, launchers_);
  }

  bool script(const Strings& words, std::size_t at) {
    const auto text = machine_.read(words[at]);
    if (text && !has_mark(*text)) {
      follow(*text, rest(words, at + 1), true, words[at]);
      return true;
    }
    machine_.state().handed_on.push_back(words[at]);
    return false;
  }

  bool batch_job(const Strings& words) {
    std::map<std::string, std::string> options;
    std::string lines;
    std::size_t at = 1;
    std::optional<std::string> wrapped;
    while (at < words.size() && words[at].size() > 1 && words[at][0] == '-') {
      const bool whole = words[at].find('=') != std::string::npos || (words[at][1] != '-' && words[at].size() > 2);
      const bool bare = words[at] == "--exclusive" || words[at] == "--parsable" || words[at] == "--wait" ||
                        words[at] == "--requeue" || words[at] == "--overcommit" || words[at] == "-W";
      if (words[at].starts_with("--wrap=")) wrapped = words[at].substr(7);
      if (words[at] == "--wrap" && at + 1 < words.size()) wrapped = words[at + 1];
      lines += "#SBATCH " + words[at] + (whole || bare || at + 1 >= words.size() ? "" : " " + words[at + 1]) + "\n";
      at += whole || bare ? 1U : 2U;
    }
    launchers_.push_back({"sbatch"});
    const auto with_options = [&](const std::string& text, const Strings& arguments, bool is_file,
                                  const std::string& name) {
      auto before = machine_.state().batch;
      machine_.follow(text, arguments, is_file, name, launchers_, batch_options(lines));
      machine_.state().batch = std::move(before);
      return true;
    };
    if (wrapped) return with_options(*wrapped, {}, false, "bash");
    if (at >= words.size()) {
      const auto input = machine_.state().input;
      return input ? with_options(*input, {}, true, "slurm_script") : false;
    }
    const auto text = machine_.read(words[at]);
    if (text && !has_mark(*text)) return with_options(*text, rest(words, at + 1), true, words[at]);
    machine_.state().handed_on.push_back(words[at]);
    return false;
  }

  // ssh host command, pdsh -w hosts command: one text for the shell there
  bool remote(const Strings& words, const std::string& name) {
    std::size_t at = 1;
    while (at < words.size() && words[at].size() > 1 && words[at][0] == '-') {
      const bool valued =
          words[at].size() == 2 && std::string_view("pioJlFLRwxfut").find(words[at][1]) != std::string_view::npos;
      at += valued ? 2U : 1U;
    }
    if (name == "ssh") ++at;
    std::string text;
    for (; at < words.size(); ++at) text += (text.empty() ? "" : " ") + words[at];
    if (text.empty()) return false;
    launchers_.push_back({name});
    const std::size_t before = machine_.state().launches.size();
    follow(text, {}, false, "bash");
    return machine_.state().launches.size() > before;
  }

  Machine& machine_;
  std::vector<Strings> launchers_;
  int depth_ = 0;

  friend class Machine;
};

void Machine::follow(const std::string& text, const Strings& arguments, bool is_file, const std::string& name,
                     const std::vector<Strings>& launchers, const std::map<std::string, std::string>& options) {
  const std::vector<Strings> before = std::exchange(outer_launchers_, launchers);
  child_shell(text, arguments, is_file, name, options);
  outer_launchers_ = before;
}

Flow Machine::external(const Strings& words) {
  if (words.empty() || words.front().empty()) {
    finish(127);
    return {};
  }
  Strings plain = words;
  plain.front() = base_name(words.front());
  if (utility(plain)) return {};
  const std::size_t before = state_.launches.size();
  Starter starter(*this);
  starter.launchers_ = outer_launchers_;
  if (starter.start(words)) {
    if (state_.launches.size() > before) {
      finish(0);
      print(unknown_output(words) + "\n");
    }
    return {};
  }
  // What is started is not known, and it is given arguments like those of a training.
  const auto options =
      std::count_if(words.begin(), words.end(), [](const std::string& word) { return word.starts_with("--"); });
  if (is_mark(words.front()) && options >= 2) starter.keep(words.front(), rest(words));
  print(unknown_output(words) + "\n");
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + shown(word, unknowns_);
  if (command.size() > 60) command = command.substr(0, 57) + "...";
  finish_unknown("whether `" + command + "` succeeds");
  return {};
}

}  // namespace debubble::shell
