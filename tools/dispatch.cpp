#include "tools/dispatch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "formats/files/file_roles.hpp"
#include "formats/text/printable.hpp"
#include "formats/version.hpp"
#include "live/backends.hpp"
#include "scenario/request/flag.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/suggest.hpp"
#include "tools/commands/command.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/flags/config_file.hpp"
#include "tools/flags/given_files.hpp"
#include "tools/output/output.hpp"
#include "tools/views/diagnostics.hpp"

namespace debubble {
namespace {

// The one long name of a flag that was typed; empty: none, or several.
std::string typed_name(const Flag& flag, std::span<const std::string> arguments) {
  std::string typed;
  const std::vector<std::string_view> names = names_of(flag);
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    const bool is_long = name.starts_with("--") && std::find(names.begin(), names.end(), name) != names.end();
    if (!is_long || name == typed) continue;
    if (!typed.empty()) return "";
    typed = name;
  }
  return typed;
}

bool ends_name(const std::string& text, std::size_t at) {
  return at >= text.size() || text[at] == ' ' || text[at] == '=' || text[at] == ',' || text[at] == ':';
}

// Each name that stands in the text by itself.
void write_typed_names(std::string& text, std::span<const Flag> rows, std::span<const std::string> arguments) {
  for (std::size_t at = 0; (at = text.find("--", at)) != std::string::npos;) {
    std::size_t end = at;
    while (!ends_name(text, end)) ++end;
    const Flag* const flag = find_flag(rows, text.substr(at, end - at));
    const std::string typed = flag == nullptr ? "" : typed_name(*flag, arguments);
    const bool begins = at == 0 || text[at - 1] == ' ';
    if (typed.empty() || !begins) {
      at = end;
      continue;
    }
    text.replace(at, end - at, typed);
    at += typed.size();
  }
}

// "--microbatch-size" of places and remedies as "--mbs" where that was typed, and no other of its long names.
InputError by_typed_names(const InputError& error, std::span<const Flag> rows, std::span<const std::string> arguments) {
  std::vector<Diagnostic> problems = error.diagnostics();
  for (Diagnostic& problem : problems) {
    if (!problem.place.starts_with("--")) continue;
    write_typed_names(problem.place, rows, arguments);
    write_typed_names(problem.help, rows, arguments);
  }
  return InputError(std::move(problems));
}

// Who speaks when mpirun started several of us: rank 0, and of the others only those that know something it does not.
// "rank 2: " in front of the complaints of a rank other than 0 of `debubble live`, `sweep` and `plan`, else "".
//
// All ranks see the same wrong flags, and one complaint is enough. So such a rank waits first: when rank 0 fails too,
// mpirun ends this process meanwhile, without a word. When it does not, the trouble is this rank's own (a file that
// only its host lacks), and it says so.
std::string speaker_prefix(const std::vector<std::string>& arguments) {
  const std::string verb = arguments.empty() ? "" : arguments.front();
  if (verb != "live" && verb != "sweep" && verb != "plan") return "";
  const std::optional<int> rank = live::mpi_rank_of_environment();
  if (!rank || *rank == 0) return "";
  std::this_thread::sleep_for(std::chrono::seconds(3));
  return "rank " + std::to_string(*rank) + ": ";
}

// `text` with `prefix` in front of each line.
std::string prefixed(const std::string& prefix, const std::string& text) {
  if (prefix.empty()) return text;
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    result += prefix + text.substr(begin, end - begin);
    begin = end;
  }
  return result;
}

}  // namespace

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const CommandEntry& entry : command_catalog()) names.push_back(entry.name);
  return names;
}

namespace {

std::string verb_overview() {
  std::string text = "debubble " + std::string(kVersion) +
                     ": where pipeline-parallel training waits, and why\n\n"
                     "Usage: debubble VERB [flags]\n\n"
                     "Verbs:\n";
  for (const CommandEntry& entry : command_catalog()) {
    text += "  " + entry.name + std::string(10 - entry.name.size(), ' ') + entry.summary + "\n";
  }
  text +=
      "\nStart with:\n"
      "  debubble simulate --schedule 1f1b -p 4 -m 8\n"
      "  debubble compare -p 4 -m 8\n\n"
      "debubble VERB --help shows a verb's flags. Exit status: 0 fine, 1 a finding,\n"
      "2 wrong usage or input, 3 something missing on this machine, 70 a bug of ours,\n"
      "130 interrupted.\n";
  return text;
}

[[noreturn]] void refuse_verb(const std::string& name) {
  const std::vector<std::string> names = verb_names();
  const std::string guess = closest_name(name, names);
  if (const ScheduleEntry* entry = find_schedule(name); entry != nullptr) {
    throw InputError(Diagnostic{"C060", "", "there is no verb \"" + name + "\"",
                                "write `debubble simulate --schedule " + entry->name + "`"});
  }
  throw InputError(Diagnostic{"C060", "", "there is no verb \"" + name + "\"",
                              guess.empty() ? "run `debubble --help` for the list" : "did you mean " + guess + "?"});
}

// What follows "--" is another program's and none of our business: no flag, no --config, no empty value of it
// is looked at. Other verbs have no use for it.
std::vector<std::string> take_program(std::vector<std::string>& arguments, const Command& command) {
  const auto dashes = std::find(arguments.begin() + 1, arguments.end(), "--");
  if (dashes == arguments.end() || !command.takes_program()) return {};
  std::vector<std::string> program(dashes + 1, arguments.end());
  arguments.erase(dashes, arguments.end());
  if (program.empty() || program.front().empty()) {
    throw InputError(Diagnostic{"C061", "--", "no program follows", "write it like: -- python train.py"});
  }
  return program;
}

int run_verb(const CommandEntry& entry, std::vector<std::string> arguments, Invocation invocation) {
  const std::unique_ptr<Command> command = entry.make();
  invocation.program = take_program(arguments, *command);
  const VerbFacts verb{entry.name, entry.summary, entry.example};
  FlagRows rows = command->flags();
  const std::vector<std::string> typed = arguments;
  std::string config;
  try {
    const bool wants_help = std::any_of(arguments.begin(), arguments.end(),
                                        [](const std::string& a) { return a == "--help" || a == "-h"; });
    if (!wants_help) arguments = expand_config(std::move(arguments), rows, verb_names());
    rows.push_back(config_row(config));
    refuse_empty_values(arguments);
    if (!parse_command_line(verb, rows, {arguments.begin() + 1, arguments.end()})) {
      std::fputs(verb_help(verb, rows).c_str(), stdout);
      return kExitOk;
    }
    return command->run(invocation);
  } catch (const InputError& error) {
    throw by_typed_names(told_by_kind(error, rows, typed), rows, typed);
  }
}

int dispatch(const std::vector<std::string>& arguments) {
  const bool help = arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help";
  if (help && arguments.size() > 1 && arguments[0] == "help") return dispatch({arguments[1], "--help"});
  if (help) {
    std::fputs(verb_overview().c_str(), arguments.empty() ? stderr : stdout);
    return arguments.empty() ? kExitUsage : kExitOk;
  }
  if (arguments[0] == "--version") {
    std::printf("debubble %s\n", std::string(kVersion).c_str());
    return kExitOk;
  }
  for (const CommandEntry& entry : command_catalog()) {
    if (entry.name == arguments[0]) return run_verb(entry, arguments, {quoted_command_line(arguments), {}});
  }
  refuse_verb(arguments[0]);
}

void print_error(const std::vector<std::string>& arguments, const std::string& text) {
  std::fputs(prefixed(speaker_prefix(arguments), text).c_str(), stderr);
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
  try {
    const int status = dispatch(arguments);
    for (const std::string& note : take_replacement_notes()) print_error(arguments, "note: " + printable(note) + "\n");
    // A text longer than the buffer has failed before, and leaves nothing to flush.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      std::fputs("error[C051]: cannot write to standard output\n", stderr);
      return kExitUsage;
    }
    return status;
  } catch (const InputError& error) {
    print_error(arguments, diagnostics_view(error.diagnostics(), stderr_style()));
    return kExitUsage;
  } catch (const UnavailableError& error) {
    print_error(arguments, diagnostics_view(std::span(&error.diagnostic(), 1), stderr_style()));
    return kExitUnavailable;
  } catch (const std::bad_alloc&) {
    std::fputs("error[X004]: this run needs more memory than there is\n  = help: use fewer microbatches or devices\n",
               stderr);
    return kExitUnavailable;
  } catch (const std::exception& error) {
    print_error(arguments, "debubble: internal error: " + printable(error.what()) +
                               "\n  please report it with the command line\n");
    return kExitInternal;
  }
}

}  // namespace debubble
