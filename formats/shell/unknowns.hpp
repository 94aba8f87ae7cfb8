// What a script's text does not say: a variable of the environment, the output of a program, which branch is taken.
// In a value an unknown piece stands as a mark with its number, so that values are plain strings all the same.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace debubble::shell {

struct Unknown {
  std::string what{};         // "the environment variable SLURM_NNODES", "the output of `nvidia-smi -L`"
  std::string setter{};       // what --set gives it by: "SLURM_NNODES", "7"; "": nothing does
  int line = 0;               // where it was met
  bool outside = false;       // of the environment or the command line: a stranger's shell has nothing there
  std::vector<int> causes{};  // of what depends on others: their numbers
  // Where it is one of several known things: each as words of a command.
  std::vector<std::vector<std::string>> alternatives{};
};

class Unknowns {
 public:
  int add(Unknown unknown);
  // The same number for the same variable.
  int variable(const std::string& name, int line);
  int positional(const std::string& name, int line);
  int derived(const std::vector<int>& causes, const std::string& what, int line);

  [[nodiscard]] const Unknown& at(int number) const { return unknowns_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] bool has(int number) const {
    return number >= 0 && static_cast<std::size_t>(number) < unknowns_.size();
  }
  // What was given to a variable first is what --set may give.
  void name_setter(int number, const std::string& name);
  // Those that depend on no other one.
  [[nodiscard]] std::set<int> roots(const std::vector<int>& numbers) const;
  // The text with each of its known alternatives; the text alone where there is none.
  [[nodiscard]] std::vector<std::string> readings(const std::string& text) const;

 private:
  int named(const std::string& name, const std::string& what, int line);

  std::vector<Unknown> unknowns_;
  std::map<std::string, int> named_;
};

[[nodiscard]] std::string mark(int number);
// The text with these words, a blank between, in place of that mark.
[[nodiscard]] std::string with_words(const std::string& text, int number, const std::vector<std::string>& words);
[[nodiscard]] inline bool has_mark(std::string_view text) { return text.find('\x01') != std::string_view::npos; }
// Is it one mark and nothing else?
[[nodiscard]] bool is_mark(std::string_view text);
[[nodiscard]] std::vector<int> marks(std::string_view text);
// For people: "<SLURM_NNODES>".
[[nodiscard]] std::string shown(const std::string& text, const Unknowns& unknowns);

}  // namespace debubble::shell
