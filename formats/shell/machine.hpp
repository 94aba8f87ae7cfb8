// Runs a script's commands on a State. One class over several files: machine_*.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/shell/arithmetic.hpp"
#include "formats/shell/evaluator.hpp"
#include "formats/shell/parser.hpp"
#include "formats/shell/state.hpp"
#include "formats/shell/syntax.hpp"
#include "formats/shell/unknowns.hpp"

namespace debubble::shell {

using Strings = std::vector<std::string>;

struct Flow {
  enum class Kind { kNormal, kBreak, kContinue, kReturn, kExit };
  Kind kind = Kind::kNormal;
  int levels = 0;
  [[nodiscard]] bool normal() const { return kind == Kind::kNormal; }
  bool operator==(const Flow&) const = default;
};

// Yes, no, or not known and why.
struct Answer {
  bool yes = false;
  bool known = true;
  std::vector<int> causes{};
  int otherwise = -1;  // 1, 0: yes, no where nothing is set outside of the script
};

// A command that the shell itself has could not be carried out: it fails with this status.
struct CommandFailure {
  int status = 1;
};

struct ParameterValue;  // expansion.hpp

class Machine {
 public:
  explicit Machine(const Given& given);

  Evaluation run(const std::string& text);

  // machine_run.cpp
  Flow execute(const Command& command);
  Flow run_text(const std::string& text, int line);  // as `eval` does
  Flow run_file(const std::string& path, const Strings& arguments, bool own_arguments);
  // What a program that starts a shell hands on: its variables are those that are exported.
  void child_shell(const std::string& text, const Strings& arguments, bool is_file, const std::string& name,
                   const std::map<std::string, std::string>& options);
  // The same, of a shell that these launchers start.
  void follow(const std::string& text, const Strings& arguments, bool is_file, const std::string& name,
              const std::vector<Strings>& launchers, const std::map<std::string, std::string>& options = {});
  std::string caught(const std::function<void()>& body);
  void aside(const std::function<void()>& body);  // as a subshell

  // expansion.cpp
  Strings fields(const Word& word);
  Strings fields(const std::vector<Word>& words);
  std::string single(const Word& word);
  std::string pattern(const Word& word);
  std::string regex(const Word& word);

  // machine_variables.cpp
  std::string value_of(const std::string& name, const std::string& index = "");
  std::string separators();  // $IFS
  void assign(const std::string& alias, const std::string& value, bool append = false, const std::string& index = "");
  void assign(const Assignment& assignment);
  Variable& variable(const std::string& name);
  // The name itself; of one that `local -n` made, the name that it refers to.
  [[nodiscard]] std::string target_of(const std::string& name) const;
  void refer(const std::string& name, const std::string& target);
  void unset(const std::string& alias, const std::string& index);
  ArithmeticResult arithmetic(const std::string& text);
  std::string expanded(const std::string& text);  // as between double quotes

  // machine_tests.cpp
  Answer test(const TestNode& node);
  Answer test(const Strings& words);  // [ ... ]
  Answer is_empty(const std::string& text);
  Answer equals(const std::string& a, const std::string& b);
  Answer compare(const std::string& op, const std::string& a, const std::string& b, bool expressions);
  Answer is_set(const std::string& text);
  Answer unary_test(const std::string& op, const std::string& text);
  Answer regex_test(const std::string& text, const std::string& expression);
  Answer matching(const std::string& text, const std::string& pattern);

  // builtins.cpp
  // False where the shell has no such command.
  bool builtin(const Strings& words, const Command& command, Flow& flow);
  // utilities.cpp: programs whose output follows from their input
  bool utility(const Strings& words);
  // launches.cpp: all other programs
  Flow external(const Strings& words);

  void stop(const std::string& what);  // remembers why the script ends
  void print(const std::string& text);
  void finish(int code) { state_.status = Status{code, true, {}}; }
  void finish(const Answer& answer);
  void finish_unknown(const std::string& what, const std::string& setter = "");
  std::string unknown_output(const Strings& words);
  void note(const std::string& text, int line);
  void set_elsewhere(const std::string& by);  // what variables it sets is not known
  void spend(std::size_t steps);
  State& state() { return state_; }
  Unknowns& unknowns() { return unknowns_; }
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] const Given& given() const { return given_; }
  [[nodiscard]] std::string path_of(const std::string& path) const;
  void write_file(const std::string& path, const std::string& text, bool appends);
  // What a file has; nothing where it is not known to be there.
  std::optional<std::string> read(const std::string& path);
  Answer is_there(const std::string& path, char kind);
  [[nodiscard]] std::string script_name() const;
  // A name for what a process substitution prints.
  std::string pipe_of(const std::string& output);
  ParameterValue unset_variable(const std::string& name, bool list);
  std::string outside_mark(const std::string& name);
  void note_unset(const std::string& name, const std::string& value);
  std::string mark_of(const std::vector<int>& causes, const std::string& what);

 private:
  friend class Expansion;

  struct Parked {
    Flow flow;
    State state;
    std::vector<int> causes;
    int line = 0;
  };

  Flow branch(const Answer& answer, const std::function<Flow()>& yes, const std::function<Flow()>& no);
  Flow when(const Answer& answer, const std::function<Flow()>& yes, const std::function<Flow()>& no);
  [[nodiscard]] Answer succeeded() const;
  Flow list(const Command& command);
  void negate_status(const Command& command);
  Flow pipeline(const Command& command);
  Flow and_or(const Command& command);
  Flow if_from(const Command& command, std::size_t at);
  Flow case_from(const Command& command, std::size_t at, const std::string& subject);
  Flow case_body(const Command& command, std::size_t at, const std::string& subject);
  Flow for_words(const Command& command);
  Flow for_arithmetic(const Command& command);
  Flow while_loop(const Command& command);
  // One turn; whether to go on. What breaks out is kept in `left`.
  bool turn(const Command& body, Flow& flow, std::vector<Parked>& left);
  Flow end_loop(std::size_t from, Flow flow, std::vector<Parked>& left);
  Flow unknown_turns(const std::vector<int>& causes, const std::function<bool(Flow&)>& one);
  Flow settle(std::size_t from, Flow flow, const std::function<bool(const Flow&)>& accepts);
  Flow call(const Command& function, const Strings& arguments);
  Flow simple(const Command& command);
  Flow run_words(const Command& command, const Strings& words);
  Flow redirected(const Command& command, const std::function<Flow()>& body);
  void set_batch_variables(const std::string& text, bool inner);
  void open_input(const Redirection& redirection);
  Flow after(Flow flow);  // what `set -e` makes of it
  void collect_names(const Command& command);

  const Given& given_;
  State state_;
  Unknowns unknowns_;
  std::vector<Note> notes_;
  std::set<std::string> noted_;
  std::map<std::string, std::string> unset_;  // with the default that counts
  std::set<std::string> own_names_;           // that the script assigns somewhere
  std::vector<Parked> parked_;
  std::size_t steps_ = 0;
  std::size_t substitutions_ = 0;  // $(...) that ran
  int depth_ = 0;
  int tested_ = 0;  // inside a condition: `set -e` does not count
  int line_ = 0;
  int files_made_ = 0;
  bool source_missing_ = false;  // what is not set may have been set there
  std::string stopped_;
  int stopped_line_ = 0;
  Strings sources_;
  std::vector<Strings> outer_launchers_;  // of the shell that runs
  std::string zero_;                      // $0
};

// The #SBATCH lines of a script, by long name: "nodes" of "-N 4" and "--nodes=4".
[[nodiscard]] std::map<std::string, std::string> batch_options(const std::string& text);

// Slurm's variables of a job with these options.
struct BatchVariable {
  std::string name;
  std::string value;
  std::string option;  // that says so
};
[[nodiscard]] std::vector<BatchVariable> batch_variables(const std::map<std::string, std::string>& options);

}  // namespace debubble::shell
