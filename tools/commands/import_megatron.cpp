#include "tools/commands/import_megatron.hpp"

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "formats/files/output_file.hpp"
#include "formats/files/read_file.hpp"
#include "formats/megatron/argument_list.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "formats/text/printable.hpp"
#include "formats/text/shell.hpp"
#include "scenario/request/flag_row.hpp"
#include "scenario/request/model_choice.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/quantities.hpp"
#include "tools/output/stderr_line.hpp"
#include "tools/script_run/script_run.hpp"

namespace debubble {
namespace {

namespace fs = std::filesystem;

constexpr int kMostArguments = 1000;

// A file that the script reads: regular ones only, for a terminal or a pipe would wait.
std::optional<std::string> file_beside(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > 1'000'000 || error) return std::nullopt;
  try {
    return read_file(path, "--file", 1'000'000);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::pair<std::string, std::string> key_and_value(const std::string& text, const char* flag) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    fail("C006", flag, "\"" + printable(text) + "\" is not KEY=VALUE",
         std::string("write it like ") + (std::string(flag) == "--file" ? "--file ds_config.json=my/ds_config.json"
                                                                        : "--set NNODES=4, or --set 7=4096 for $7"));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void set_variables(const ScriptFlags& flags, shell::Given& given) {
  if (!flags.environment.empty()) {
    given.whole_environment = true;
    given.arguments_given = true;
    std::istringstream lines(read_file(flags.environment, "--environment"));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t equals = line.find('=');
      if (equals != std::string::npos && equals > 0) given.variables[line.substr(0, equals)] = line.substr(equals + 1);
    }
  }
  for (const std::string& one : flags.set) {
    const auto [name, value] = key_and_value(one, "--set");
    const bool number = name.find_first_not_of("0123456789") == std::string::npos;
    if (!number) {
      given.variables[name] = value;
      continue;
    }
    if (name.size() > 4 || std::stoi(name) < 1 || std::stoi(name) > kMostArguments) {
      fail("C012", "--set", "a script's arguments are counted from 1 to 1,000; got " + name,
           "write --set 7=4096 for $7");
    }
    given.arguments[std::stoi(name)] = value;
  }
}

void set_arguments(const ScriptFlags& flags, shell::Given& given) {
  if (!flags.args_given) return;
  if (!given.arguments.empty()) {
    fail("C009", "--args",
         "--args gives all arguments of the script, --set " + std::to_string(given.arguments.begin()->first) +
             "=... one of them",
         "leave one of the two out");
  }
  given.arguments_given = true;
  int next = 1;
  for (const std::string& word : shell_words(flags.args_text, "--args")) given.arguments[next++] = word;
}

LaunchGiven given_by(const std::string& file, const ScriptFlags& flags) {
  LaunchGiven given;
  given.gpus = flags.gpus;
  if (flags.gpus && *flags.gpus < 1) fail("C012", "--gpus", "at least 1 rank is needed", "write --gpus 64");
  std::error_code error;
  given.shell.path = file;
  given.shell.folder = flags.directory.empty() ? fs::current_path(error).string() : flags.directory;
  if (!given.shell.folder.starts_with("/")) given.shell.folder = fs::absolute(given.shell.folder, error).string();
  given.shell.read = file_beside;
  set_variables(flags, given.shell);
  set_arguments(flags, given.shell);
  for (const std::string& one : flags.files) {
    const auto [path, source] = key_and_value(one, "--file");
    given.shell.files[path] = read_file(source, "--file", 1'000'000);
  }
  return given;
}

std::string argument_lines(const MegatronLaunch& launch) {
  std::string text;
  if (!launch.program.empty()) text += shell_quoted(launch.program) + "\n";
  for (const std::string& word : launch.arguments) text += shell_quoted(word) + "\n";
  return text;
}

}  // namespace

FlagRows script_rows(ScriptFlags& flags) {
  const FlagGroup row("Launch script");
  return {
      row("--set", "NAME=VALUE", "variable of the script; 7=VALUE: its argument $7", &flags.set, FlagCount::kSingly),
      row("--args", "WORDS", "all arguments of the script, in one word: \"8 4096\"", &flags.args_text,
          &flags.args_given),
      row("--file", "PATH=FILE", "file that the script sources or reads at PATH", &flags.files, FlagCount::kSingly),
      row("--environment", "FILE", "the whole environment, as `env` prints it", &flags.environment),
      row("--directory", "DIR", "where the script is started (default: here)", &flags.directory),
      row("--gpus", "N", "ranks in all, where the script does not say", &flags.gpus),
      row("--arguments-only", "what the program gets, a word a line; no scenario", &flags.arguments_only),
      row("--run-script", "bash runs it too, guarded by bwrap; both must agree", &flags.run_script),
  };
}

int import_megatron(const std::string& file, const ScriptFlags& flags, const ScriptModel& model,
                    const std::string& output) {
  const std::string text = read_file(file, "FILE");
  LaunchGiven given = given_by(file, flags);
  given.needs_ranks = !flags.arguments_only;
  given.model = model.name;
  given.sequence = model.sequence;
  if (!model.name.empty()) {
    const TransformerShape shape = choose_model(model.name, "").shape;
    given.layers = shape.layers;
    given.predicted = shape.predicted_tokens;
    given.experts = shape.experts > 0;
  }
  if (flags.run_script) hold_to_own_files(given, flags.directory);
  if (flags.arguments_only) {
    const MegatronLaunch launch = flags.run_script ? read_and_run(text, file, given) : read_launch(text, file, given);
    OutputFile out(output);
    out.write(argument_lines(launch));
    out.commit();
    for (const std::string& note : launch.notes) stderr_line("note: " + printable(note));
    return kExitOk;
  }
  const MegatronScenario scenario = flags.run_script ? megatron_scenario(read_and_run(text, file, given), file, given)
                                                     : read_megatron(text, file, given);
  OutputFile out(output);
  out.write(write_scenario(scenario, file));
  out.commit();
  for (const std::string& finding : scenario.findings) stderr_line("note: " + printable(finding));
  if (const std::string measured = measured_words(scenario); !measured.empty()) stderr_line("measured: " + measured);
  if (output != "-") {
    stderr_line("next: debubble simulate --config " + shell_file(output) + " --hardware h100");
  }
  return kExitOk;
}

}  // namespace debubble
