// What a script has made so far: variables, functions, files, and the programs that it started.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/shell/syntax.hpp"
#include "formats/shell/unknowns.hpp"

namespace debubble::shell {

struct Variable {
  std::map<std::int64_t, std::string> items{};  // a plain value is item 0
  std::map<std::string, std::string> keyed{};   // declare -A
  bool array = false;
  bool has_keys = false;
  bool exported = false;
  bool integer = false;
  std::string refers_to{};  // local -n: what is done to it is done to that one

  bool operator==(const Variable&) const = default;
};

struct File {
  std::string content{};
  bool folder = false;
  bool lost = false;  // removed, or something that cannot be known was written to it

  bool operator==(const File&) const = default;
};

struct Status {
  int code = 0;
  bool known = true;
  std::vector<int> causes{};  // of what is not known
  int otherwise = -1;         // 1, 0: yes, no where nothing is set outside of the script

  bool operator==(const Status&) const = default;
};

// One program that was started, with what launched it.
struct Launch {
  std::vector<std::vector<std::string>> launchers;  // outermost first: {"srun", "-N", "4"}, {"torchrun", ...}
  std::string program;                              // pretrain_gpt.py
  std::vector<std::string> arguments;
  int line = 0;
  std::vector<int> conditions;                     // what is not known and decides whether it runs
  std::map<std::string, std::string> batch;        // #SBATCH --name=value of the job's script
  std::map<std::string, std::string> environment;  // exported: numbers of ranks, connections to the device
  std::shared_ptr<const std::map<std::string, File>> files;
  std::string folder;

  [[nodiscard]] bool same_command(const Launch& other) const {
    return program == other.program && arguments == other.arguments && launchers == other.launchers;
  }
};

// What variables were, by name; nothing: they were not set.
using HiddenVariables = std::map<std::string, std::optional<Variable>>;

struct Frame {
  HiddenVariables saved;  // what `local` hides
};

struct State {
  std::map<std::string, Variable> variables;
  std::map<std::string, CommandPointer> functions;
  std::vector<std::string> positional;
  bool positional_given = false;  // otherwise "$@" is taken to be empty, and $1 is not known
  std::map<std::string, File> files;
  std::string folder;
  bool stops_on_error = false;
  bool fails_in_pipes = false;
  bool exports_all = false;                  // set -a
  std::set<std::string> exported_functions;  // export -f
  std::vector<std::string> left_folders;     // of pushd, the last one on top
  Status status;
  std::vector<Frame> frames;
  std::vector<Launch> launches;
  std::vector<std::string> handed_on;  // scripts that were started and are not here
  std::map<std::string, std::string> batch;
  std::string output;  // of a command whose output is caught
  bool caught = false;
  std::optional<std::string> input;  // what is left to read; nothing: not known

  // Keeps what the variable is now, unless that is hidden already.
  void hide(const std::string& name, HiddenVariables& hidden) const;
  void put_back(HiddenVariables hidden);
  // What a copy costs, in bytes.
  [[nodiscard]] std::size_t size() const;
};

// What holds after one of two branches was taken, nobody knows which.
void merge(State& state, const State& other, const std::vector<int>& causes, Unknowns& unknowns, int line);

}  // namespace debubble::shell
