// The `debubble` command: finds the verb, parses its flags, runs it, and turns what happens into an exit status.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "tools/commands/command.hpp"
#include "tools/config_file.hpp"
#include "tools/exit_status.hpp"
#include "tools/output.hpp"
#include "tools/version.hpp"
#include "tools/views/diagnostics.hpp"

namespace debubble {

namespace {

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const CommandEntry& entry : command_catalog()) names.push_back(entry.name);
  return names;
}

std::string overview() {
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
      "2 wrong usage or input, 3 something this machine lacks, 70 a bug of ours.\n";
  return text;
}

std::string quoted_command_line(const std::vector<std::string>& arguments) {
  std::string line = "debubble";
  for (const std::string& argument : arguments) {
    const bool plain = !argument.empty() && argument.find_first_of(" \t\n'\"\\$&|;<>()*?[]#~`") == std::string::npos;
    line += plain ? " " + argument : " '" + argument + "'";
  }
  return line;
}

[[noreturn]] void refuse_verb(const std::string& name) {
  const std::vector<std::string> names = verb_names();
  const std::string guess = closest_name(name, names);
  throw InputError(Diagnostic{"C060", "", "there is no verb \"" + name + "\"",
                              guess.empty() ? "run `debubble --help` for the list" : "did you mean " + guess + "?"});
}

// CLI11's complaint in our words, with a suggestion for a misspelt flag.
[[noreturn]] void refuse_flags(const CLI::App& verb, const CLI::ParseError& error) {
  std::string message = error.what();
  std::string help = "run `debubble " + verb.get_name() + " --help` for its flags";
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    std::vector<std::string> names;
    for (const CLI::Option* option : verb.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    for (const std::string& extra : verb.remaining()) {
      message = "unexpected \"" + extra + "\"";
      const std::string guess = closest_name(extra.substr(0, extra.find('=')), names);
      if (!guess.empty()) help = "did you mean " + guess + "?";
      break;
    }
  }
  while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
  throw InputError(Diagnostic{"C061", "debubble " + verb.get_name(), message, help});
}

// CLI11 leaves two blank lines between groups.
std::string tidy_help(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

int run_verb(const CommandEntry& entry, std::vector<std::string> arguments, const Invocation& invocation) {
  const std::unique_ptr<Command> command = entry.make();
  CLI::App verb(entry.summary, entry.name);
  verb.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command->add_flags(verb);
  verb.add_option("--config", "a file of KEY = VALUE lines, named like the flags")->type_name("FILE.toml");
  verb.footer("Example:\n  " + entry.example);
  verb.set_help_flag("-h,--help", "this text");
  verb.get_formatter()->column_width(29);
  const bool wants_help =
      std::any_of(arguments.begin(), arguments.end(), [](const std::string& a) { return a == "--help" || a == "-h"; });
  if (!wants_help) arguments = expand_config(std::move(arguments), verb, verb_names());
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend() - 1);  // CLI11 takes them last first
  try {
    verb.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    std::fputs(tidy_help(verb.help("debubble")).c_str(), stdout);
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    refuse_flags(verb, error);
  }
  return command->run(invocation);
}

int dispatch(const std::vector<std::string>& arguments) {
  const bool help = arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help";
  if (help) {
    std::fputs(overview().c_str(), arguments.empty() ? stderr : stdout);
    return arguments.empty() ? kExitUsage : kExitOk;
  }
  if (arguments[0] == "--version") {
    std::printf("debubble %s\n", std::string(kVersion).c_str());
    return kExitOk;
  }
  for (const CommandEntry& entry : command_catalog()) {
    if (entry.name == arguments[0]) return run_verb(entry, arguments, {quoted_command_line(arguments)});
  }
  refuse_verb(arguments[0]);
}

}  // namespace

}  // namespace debubble

int main(int argc, char** argv) {
  using namespace debubble;
  try {
    const int status = dispatch({argv + 1, argv + argc});
    if (std::fflush(stdout) != 0) {
      std::fputs("error[C052]: cannot write to standard output\n", stderr);
      return kExitUsage;
    }
    return status;
  } catch (const InputError& error) {
    std::fputs(diagnostics_view(error.diagnostics(), stderr_style()).c_str(), stderr);
    return kExitUsage;
  } catch (const std::bad_alloc&) {
    std::fputs("error[X004]: this run needs more memory than there is\n  = help: use fewer microbatches or devices\n",
               stderr);
    return kExitUnavailable;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "debubble: internal error: %s\n  please report it with the command line\n", error.what());
    return kExitInternal;
  }
}
