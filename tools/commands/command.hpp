// Command: one verb of the command line. Adding a verb is one file, one line below and one row in the catalog.
//
// A command names its flags, then runs once they are parsed. It throws InputError for wrong input and returns an exit
// status otherwise; stdout gets data only, stderr everything else.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scenario/request/flag.hpp"

namespace debubble {

struct Invocation {
  std::string command_line;          // as typed, for reports
  std::vector<std::string> program;  // what follows "--", untouched
};

class Command {
 public:
  virtual ~Command() = default;
  // Rows whose targets are the command's own members.
  [[nodiscard]] virtual FlagRows flags() = 0;
  // Whether a program with its own arguments may follow "--".
  [[nodiscard]] virtual bool takes_program() const { return false; }
  [[nodiscard]] virtual int run(const Invocation& invocation) = 0;
};

struct CommandEntry {
  std::string name;
  std::string summary;  // one line
  std::string example;  // shown at the end of its help
  std::unique_ptr<Command> (*make)();
};

[[nodiscard]] std::span<const CommandEntry> command_catalog();

[[nodiscard]] std::unique_ptr<Command> make_simulate();
[[nodiscard]] std::unique_ptr<Command> make_compare();
[[nodiscard]] std::unique_ptr<Command> make_plan_command();
[[nodiscard]] std::unique_ptr<Command> make_sweep();
[[nodiscard]] std::unique_ptr<Command> make_whatif();
[[nodiscard]] std::unique_ptr<Command> make_live();
[[nodiscard]] std::unique_ptr<Command> make_diff_command();
[[nodiscard]] std::unique_ptr<Command> make_check();
[[nodiscard]] std::unique_ptr<Command> make_accuracy();
[[nodiscard]] std::unique_ptr<Command> make_profile();
[[nodiscard]] std::unique_ptr<Command> make_import();
[[nodiscard]] std::unique_ptr<Command> make_export();
[[nodiscard]] std::unique_ptr<Command> make_explain();
[[nodiscard]] std::unique_ptr<Command> make_list();
[[nodiscard]] std::unique_ptr<Command> make_doctor();

}  // namespace debubble
