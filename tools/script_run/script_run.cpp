#include "tools/script_run/script_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "formats/files/read_file.hpp"
#include "formats/megatron/argument_list.hpp"
#include "formats/megatron/log.hpp"
#include "formats/megatron/signature.hpp"
#include "formats/shell/machine.hpp"
#include "formats/text/printable.hpp"
#include "formats/text/shell.hpp"
#include "sim/core/error.hpp"
#include "tools/script_run/guard.hpp"
#include "tools/script_run/records.hpp"

namespace debubble {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFilesBeside = 200;
constexpr std::size_t kMostFileBytes = 8'000'000;

bool lies_openly_in(const fs::path& file, const fs::path& folder) {
  const fs::path inside = file.lexically_relative(folder);
  if (inside.empty() || inside == ".") return false;
  return std::none_of(inside.begin(), inside.end(),
                      [](const fs::path& part) { return part.string().starts_with("."); });
}

// The last of what the script printed, for people.
std::string last_lines(const std::string& output) {
  std::string text = output;
  while (text.ends_with("\n")) text.pop_back();
  if (text.size() > 300) text = "..." + text.substr(text.size() - 297);
  return text.empty() ? "it printed nothing" : "it printed: " + printable(text);
}

std::string missing_names(const std::vector<MissingProgram>& missing) {
  std::string names;
  std::set<std::string> named;
  for (const MissingProgram& program : missing) {
    if (named.size() >= 5 || !named.insert(program.name).second) continue;
    names += (names.empty() ? "" : ", ") + program.name + " (line " + program.line + ")";
  }
  return printable(names);
}

class GuardedRun {
 public:
  GuardedRun(const std::string& text, const std::string& name, const LaunchGiven& given)
      : text_(text), name_(name), given_(given) {}

  MegatronLaunch both() {
    std::map<std::string, std::string> read;
    const std::optional<MegatronLaunch> reading = by_reading(read);
    if (reading && !reading->script) refuse_to_run();
    collect_files(read);
    const RunRecords records = run(0);
    std::optional<MegatronLaunch> started = by_records(records);
    if (!reading) return alone(records, std::move(*started));
    compare(*reading, *started, records);
    MegatronLaunch result = *reading;
    result.notes.emplace_back(
        "bash itself, run under a guard, starts the same training: all arguments that change time or "
        "memory are equal");
    add_missing(records, result);
    return result;
  }

 private:
  [[noreturn]] void refuse_to_run() const {
    fail("C009", "--run-script", printable(name_) + " is no script: there is nothing to run", "leave --run-script out");
  }

  // Nothing where the text cannot be followed. What it asks for (P030) the run does not answer: to bash a variable that
  // nobody gave is empty, which would be a guess. But a whole environment leaves none of them open.
  std::optional<MegatronLaunch> by_reading(std::map<std::string, std::string>& read) {
    LaunchGiven given = given_;
    const auto look = given_.shell.read;
    given.shell.read = [&read, look](const std::string& path) {
      std::optional<std::string> text = look ? look(path) : std::nullopt;
      if (text) read[path] = *text;
      return text;
    };
    try {
      return read_launch(text_, name_, given);
    } catch (const InputError& error) {
      const bool open = error.diagnostics().front().code == "P031" || error.diagnostics().front().code == "P030";
      if (!open || !given_.shell.whole_environment) throw;
      why_alone_ = error.diagnostics().front().message;
    }
    return std::nullopt;
  }

  void collect_files(const std::map<std::string, std::string>& read) {
    const std::string& folder = given_.shell.folder;
    script_.called = given_.shell.path;
    script_.path = shell::whole_path(script_.called, folder);
    script_.folder = folder;
    script_.files = read;
    std::error_code error;
    const fs::path beside = fs::path(script_.path).parent_path();
    std::set<std::string> paths;
    for (fs::directory_iterator entry(beside, error), none; !error && entry != none; entry.increment(error)) {
      if (paths.size() < kMostFilesBeside) paths.insert(entry->path().string());
    }
    std::size_t bytes = 0;
    for (const std::string& path : paths) {
      const auto text = given_.shell.read ? given_.shell.read(path) : std::nullopt;
      if (text && (bytes += text->size()) < kMostFileBytes) script_.files[path] = *text;
    }
    for (const auto& [path, content] : given_.shell.files) script_.files[shell::whole_path(path, folder)] = content;
    script_.files[script_.path] = text_;
    if (script_.files.size() > 2 * kMostFilesBeside) {
      fail("P032", printable(name_), "the run takes 400 files at most", "move the script to a folder of its own");
    }
    if (!given_.shell.arguments.empty())
      script_.arguments.resize(static_cast<std::size_t>(given_.shell.arguments.rbegin()->first));
    for (const auto& [place, word] : given_.shell.arguments)
      script_.arguments[static_cast<std::size_t>(place) - 1] = word;
    script_.variables = given_.shell.variables;
    if (given_.shell.whole_environment) return;
    for (const auto& [variable, value, option] : shell::batch_variables(shell::batch_options(text_))) {
      script_.variables.emplace(variable, value);
    }
  }

  RunRecords run(int turn) {
    const GuardedEnd end = run_guarded(script_, turn);
    output_ = end.output;
    if (!end.stopped.empty()) {
      fail("P033", printable(name_), "the run of the script was ended: " + end.stopped + "; " + last_lines(output_),
           "without --run-script the script is read, and nothing is run");
    }
    auto records = read_records(end.records);
    if (!records) {
      fail("P033", printable(name_), "the run of the script was not recorded to its end; " + last_lines(output_),
           "without --run-script the script is read, and nothing is run");
    }
    return std::move(*records);
  }

  MegatronLaunch by_records(const RunRecords& records) {
    LaunchGiven given;
    given.gpus = given_.gpus;
    given.needs_ranks = given_.needs_ranks;
    given.shell.whole_environment = true;
    given.shell.arguments_given = true;
    given.shell.folder = given_.shell.folder;
    for (const StartedProgram& start : records.started) {
      for (const auto& [path, content] : start.files) given.shell.files[path] = content;
    }
    try {
      MegatronLaunch launch = read_launch(as_script(records.started), name_, given);
      launch.line = 0;
      return launch;
    } catch (const InputError& error) {
      const std::string missing = missing_names(records.missing);
      fail("P033", printable(name_),
           (records.started.empty() ? std::string("the script, when it is run, starts no training")
                                    : "what the script starts when it is run: " + error.diagnostics().front().message) +
               " (it ends with status " + std::to_string(records.status.value_or(0)) + "); " +
               (missing.empty() ? "" : "the guard does not have " + missing + "; ") + last_lines(output_),
           "give what it needs by --set, --args or --file; without --run-script it is read, and nothing is run");
    }
  }

  // The text cannot say: the run alone counts, where nothing of it was a guess.
  MegatronLaunch alone(const RunRecords& records, MegatronLaunch launch) {
    std::vector<MissingProgram> silent = records.missing;
    for (const StartedProgram& start : records.started) {
      if (read_alone(start)) continue;
      silent.push_back({start.name, "?"});
    }
    if (!silent.empty()) {
      fail("P030", printable(name_),
           "the script cannot be followed (" + printable(why_alone_) +
               "), and its run calls what the guard does not "
               "have, so that its output is not known: " +
               missing_names(silent),
           "write the arguments alone in a file");
    }
    const MegatronLaunch again = by_records(run(1));
    const std::string difference = differs(launch, again);
    if (!difference.empty()) {
      fail("P030", printable(name_), "two runs of the script differ, by date, process ids or chance: " + difference,
           "write the arguments alone in a file");
    }
    launch.notes.insert(launch.notes.begin(),
                        "from running the script under a guard alone, for its text cannot be followed: " + why_alone_);
    launch.notes.emplace_back(
        "files that the script looks for, other than its own and those of --file, were not there");
    return launch;
  }

  // A training; of anything else the output may have been read.
  bool read_alone(const StartedProgram& start) const {
    LaunchGiven given;
    given.needs_ranks = false;
    given.shell.whole_environment = true;
    given.shell.arguments_given = true;
    given.shell.files = {start.files.begin(), start.files.end()};
    try {
      (void)read_launch(as_script({start}), name_, given);
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  void compare(const MegatronLaunch& reading, const MegatronLaunch& started, const RunRecords& records) const {
    const std::string difference = differs(reading, started);
    if (difference.empty()) return;
    const std::string missing = missing_names(records.missing);
    fail("P034", printable(launch_place(reading, name_)),
         "bash and the reading of the script differ: " + difference +
             (missing.empty() ? "" : "; the guard does not have " + missing),
         "neither is taken; write the arguments alone in a file, or leave --run-script out to take what is read");
  }

  // The first argument that changes time or memory and is not the same; "": all are.
  static std::string differs(const MegatronLaunch& reading, const MegatronLaunch& started) {
    const Signature read = signature_of(reading.arguments);
    const Signature run = signature_of(started.arguments);
    std::set<std::string> names;
    for (const auto& [name, values] : read.values) names.insert(name);
    for (const auto& [name, values] : run.values) names.insert(name);
    const auto said = [](const Signature& signature, const std::string& name) -> std::string {
      const auto found = signature.values.find(name);
      if (found == signature.values.end()) return "nothing";
      std::string text = name.empty() ? "" : "--" + name;
      for (const std::string& value : found->second) text += (text.empty() ? "" : " ") + shell_quoted(value);
      return text;
    };
    for (const std::string& name : names) {
      if (name == "deepspeed-config" && read.values.contains(name) && run.values.contains(name)) continue;
      const std::string ours = said(read, name);
      const std::string theirs = said(run, name);
      if (ours != theirs) return "read: " + ours + ", run: " + theirs;
    }
    if (reading.ranks && started.ranks && *reading.ranks != *started.ranks) {
      return "read: " + std::to_string(*reading.ranks) + " ranks, run: " + std::to_string(*started.ranks);
    }
    if (!reading.config.empty() && !started.config.empty() && reading.config != started.config) {
      return "DeepSpeed's configuration " + printable(reading.config_path);
    }
    return "";
  }

  static void add_missing(const RunRecords& records, MegatronLaunch& result) {
    if (records.missing.empty()) return;
    result.notes.push_back(
        "the script calls programs that the guard does not have, so that their output is not known: " +
        missing_names(records.missing));
  }

  const std::string& text_;
  const std::string& name_;
  const LaunchGiven& given_;
  GuardedScript script_;
  std::string output_;
  std::string why_alone_;
};

// A script that is run sees what lies below its folder: of the root or of a home, everything.
void refuse_shared_folder(const fs::path& folder) {
  std::error_code error;
  const char* home = std::getenv("HOME");
  const bool at_home = home != nullptr && *home != '\0' && fs::equivalent(folder, home, error);
  if (!at_home && folder != folder.root_path()) return;
  fail("P032", "--run-script",
       "a script that is run sees the files below " + printable(folder.string()) + ", where it lies",
       "move it, or what --directory says, into a folder of its own");
}

}  // namespace

void hold_to_own_files(LaunchGiven& given, const std::string& directory) {
  std::error_code error;
  std::vector<fs::path> folders;
  const fs::path own = fs::path(shell::whole_path(given.shell.path, given.shell.folder)).parent_path();
  for (const fs::path& folder : directory.empty() ? std::vector{own} : std::vector{own, fs::path(directory)}) {
    const fs::path found = fs::canonical(folder, error);
    if (error) continue;
    refuse_shared_folder(found);
    folders.push_back(found);
  }
  given.shell.read = [folders, look = given.shell.read](const std::string& path) -> std::optional<std::string> {
    std::error_code problem;
    const fs::path file = fs::canonical(path, problem);  // a link that leads out of the folder lies outside
    const bool open = std::any_of(folders.begin(), folders.end(),
                                  [&](const fs::path& folder) { return lies_openly_in(file, folder); });
    return !problem && open && look ? look(path) : std::nullopt;
  };
}

MegatronLaunch read_and_run(const std::string& text, const std::string& name, const LaunchGiven& given) {
  if (is_megatron_log(text)) {
    fail("C009", "--run-script", printable(name) + " is a training log: there is nothing to run",
         "leave --run-script out");
  }
  return GuardedRun(text, name, given).both();
}

}  // namespace debubble
