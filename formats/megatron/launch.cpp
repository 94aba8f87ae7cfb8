#include "formats/megatron/launch.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "formats/megatron/argument_list.hpp"
#include "formats/megatron/arguments.hpp"
#include "formats/megatron/rank_count.hpp"
#include "formats/megatron/signature.hpp"
#include "formats/megatron/wrapper_launch.hpp"
#include "formats/shell/parser.hpp"
#include "formats/text/printable.hpp"
#include "sim/core/error.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

using Strings = std::vector<std::string>;
using shell::has_mark;
using shell::is_mark;
using shell::marks;
using shell::Unknowns;

constexpr std::string_view kCore =
    "num-layers hidden-size num-attention-heads seq-length micro-batch-size global-batch-size "
    "tensor-model-parallel-size pipeline-model-parallel-size expert-model-parallel-size hybrid-override-pattern "
    "max-position-embeddings yaml-cfg context-parallel-size ffn-hidden-size";

// Chooses an alternative for each mark that has some: of `chosen` that one, of the others the first.
class Readings {
 public:
  explicit Readings(const Unknowns& unknowns) : unknowns_(unknowns) {}

  Strings words(const Strings& words, int chosen, std::size_t which) {
    Strings result;
    for (const std::string& word : words) add(word, chosen, which, result, 0);
    return result;
  }

  const std::set<int>& seen() const { return seen_; }

 private:
  void add(const std::string& word, int chosen, std::size_t which, Strings& result, int depth) {
    if (!has_mark(word) || depth > 20 || result.size() > 200'000) {
      result.push_back(word);
      return;
    }
    for (const int number : marks(word)) {
      if (!unknowns_.has(number) || unknowns_.at(number).alternatives.empty()) continue;
      seen_.insert(number);
      const auto& all = unknowns_.at(number).alternatives;
      const Strings& taken = all[number == chosen ? std::min(which, all.size() - 1) : 0];
      if (is_mark(word)) {
        for (const std::string& one : taken) {
          for (const std::string& part : split(one)) add(part, chosen, which, result, depth + 1);
        }
        return;
      }
      return add(shell::with_words(word, number, taken), chosen, which, result, depth + 1);
    }
    result.push_back(word);
  }

  static Strings split(const std::string& text) {
    Strings words;
    std::string word;
    for (const char c : text + " ") {
      if (c != ' ' && c != '\t' && c != '\n') {
        word += c;
      } else if (!word.empty()) {
        words.push_back(std::exchange(word, {}));
      }
    }
    return words;
  }

  const Unknowns& unknowns_;
  std::set<int> seen_;
};

class Reader {
 public:
  Reader(const std::string& name, const LaunchGiven& given) : name_(name), given_(given) {}

  MegatronLaunch run(const std::string& text) {
    try {
      found_ = shell::evaluate_script(text, given_.shell);
    } catch (const shell::SyntaxError& error) {
      fail("P031", name_ + ":" + std::to_string(error.line()),
           "the script cannot be followed: " + std::string(error.what()),
           "fill in what is left open, like <path>, or give the arguments alone in a file");
    }
    std::map<const shell::Launch*, WrapperWords> wrapped;
    for (shell::Launch& launch : found_.launches) wrapped[&launch] = reword_launch(launch);
    const std::vector<const shell::Launch*> trainings = candidates();
    if (trainings.empty()) refuse_nothing();
    const shell::Launch& first = *trainings.front();
    if (is_mark(first.program)) {  // it may bring arguments of its own
      const std::vector<int> program = marks(first.program);
      ask({program.begin(), program.end()}, "what is started", first.line);
    }
    if (const WrapperWords& words = wrapped[&first]; !words.refused.empty()) {
      fail("F033", name_ + ":" + std::to_string(first.line), printable(shown(words.refused, found_.unknowns)),
           words.help);
    }
    MegatronLaunch result;
    result.notes = wrapped[&first].notes;
    result.arguments = known_arguments(first);
    compare_others(trainings, result);
    result.program = shown(first.program, found_.unknowns);
    result.line = first.line;
    result.environment = first.environment;
    result.missing_files = missing_files();
    find_config(first, result);
    count_ranks(first, result);
    for (std::string& word : result.arguments) word = shown(word, found_.unknowns);
    add_notes(result);
    return result;
  }

 private:
  // With a model's layers, or with two arguments that trainings have, or one where none has two: what converts a
  // checkpoint beforehand has sizes of groups as well.
  std::vector<const shell::Launch*> candidates() const {
    std::vector<const shell::Launch*> whole;
    std::vector<const shell::Launch*> list;
    std::vector<const shell::Launch*> weak;
    for (const shell::Launch& launch : found_.launches) {
      Readings readings(found_.unknowns);
      std::set<std::string> core;
      bool layers = false;
      for (const std::string& word : readings.words(launch.arguments, -1, 0)) {
        const std::string option = option_name(word);
        if (is_word_in(kCore, option)) core.insert(option);
        layers = layers || option == "num-layers" || option == "hybrid-override-pattern" || option == "yaml-cfg";
      }
      if (layers && (core.size() >= 2 || core.contains("yaml-cfg"))) whole.push_back(&launch);
      if (core.size() >= 2 || core.contains("yaml-cfg")) list.push_back(&launch);
      if (!core.empty()) weak.push_back(&launch);
    }
    if (!whole.empty()) return whole;
    return list.empty() ? weak : list;
  }

  [[noreturn]] void refuse_nothing() const {
    if (!found_.handed_on.empty()) {
      const std::string file = shown(found_.handed_on.front(), found_.unknowns);
      fail("P030", name_, "the script hands on to " + printable(file) + ", which is not here",
           "put it where the script finds it, or write --file " + printable(file) + "=PATH");
    }
    if (!found_.stopped.empty()) {
      fail("P030", name_ + ":" + std::to_string(found_.stopped_line),
           "the script ends here (" + printable(found_.stopped) + ") before it starts a training" + taken_for_granted(),
           "give what it needs: --args for its arguments, --set NAME=VALUE for its environment");
    }
    for (const shell::Launch& launch : found_.launches) {
      const std::string place = name_ + ":" + std::to_string(launch.line);
      if (const std::string file = config_of_wrapper(launch); !file.empty()) {
        const std::string named = printable(shown(file, found_.unknowns));
        const std::string tool = launch.program.starts_with("llama") ? "LLaMA-Factory" : "ms-swift";
        fail("P010", place, tool + " is told by " + named + " how it trains", "import that file: --from nemo " + named);
      }
      if (launch.program.starts_with("swift ")) {
        fail("P010", place, "`swift` of ms-swift trains without Megatron-Core, and without a pipeline",
             "`megatron sft` is read");
      }
    }
    fail("P010", name_, "there are no arguments like --num-layers 24" + taken_for_granted() + missing_files(),
         "give the script that starts Megatron-LM, its arguments in a file, or a whole training log");
  }

  std::string taken_for_granted() const {
    std::string names;
    for (const auto& [name, value] : found_.unset) {
      if (names.size() < 60) names += (names.empty() ? "" : ", ") + name;
    }
    return names.empty() ? "" : "; taken as not set: " + names;
  }

  // What is not said may be said by a file that the script sources and that is not here.
  std::string missing_files() const {
    constexpr std::string_view kSource = "`source ";
    std::string names;
    std::string first;
    for (const shell::Note& note : found_.notes) {
      if (!note.text.starts_with(kSource)) continue;
      const std::string file = note.text.substr(kSource.size(), note.text.find('`', 1) - kSource.size());
      if (first.empty()) first = file;
      if (names.size() < 60) names += (names.empty() ? "" : ", ") + file;
    }
    return names.empty() ? "" : printable("; it may be set by " + names + ", --file " + first + "=FILE");
  }

  // "the output of `sed s/A/4/ conf/TEMPLATE.json`": the file that it is made of.
  std::string template_help(const std::set<int>& roots) const {
    for (const int root : roots) {
      std::string words = found_.unknowns.at(root).what;
      std::replace(words.begin(), words.end(), '`', ' ');
      std::istringstream parts(words);
      for (std::string word; parts >> word;) {
        if (word.ends_with(".json") && !has_mark(word)) return "--file " + word + "=PATH";
      }
    }
    return "";
  }

  [[noreturn]] void ask(const std::set<int>& numbers, const std::string& what, int line) const {
    std::string reasons;
    std::string help;
    int shown_reasons = 0;
    const std::set<int> roots = found_.unknowns.roots({numbers.begin(), numbers.end()});
    std::set<std::string> setters;
    for (const int root : roots) {
      const shell::Unknown& unknown = found_.unknowns.at(root);
      if (++shown_reasons > 4) continue;
      reasons += (reasons.empty() ? "" : ", ") + unknown.what;
      if (!unknown.setter.empty() && !unknown.outside) reasons += " (" + unknown.setter + ")";
      if (unknown.line > 0) reasons += " (line " + std::to_string(unknown.line) + ")";
      if (!unknown.setter.empty() && setters.insert(unknown.setter).second) {
        help += (help.empty() ? "" : " ") + ("--set " + unknown.setter + "=VALUE");
      }
    }
    if (shown_reasons > 4) reasons += " and " + std::to_string(shown_reasons - 4) + " more";
    if (help.empty() && what.starts_with("DeepSpeed")) help = template_help(roots);
    if (help.empty() && what.starts_with("DeepSpeed")) help = "--file PATH=FILE, of the file or of what it is made of";
    if (help.empty()) help = "give the arguments alone in a file";
    if (what.starts_with("the number of ranks")) help += (help.empty() ? "--gpus N" : ", or --gpus N, ranks in all");
    fail("P030", name_ + (line > 0 ? ":" + std::to_string(line) : ""),
         printable(what + " depends on " + (reasons.empty() ? "what the script does not say" : reasons) +
                   missing_files()),
         printable("say it: " + help));
  }

  Strings known_arguments(const shell::Launch& launch) const {
    Readings readings(found_.unknowns);
    const Strings base = readings.words(launch.arguments, -1, 0);
    const Signature first = signature_of(base);
    if (!first.open.empty())
      ask(first.open, "what arguments " + shown(launch.program, found_.unknowns) + " gets", launch.line);
    for (const auto& [option, values] : first.values) {
      if (option == "deepspeed-config") continue;
      std::set<int> unknown;
      for (const std::string& value : values) {
        for (const int number : marks(value)) unknown.insert(number);
      }
      if (!unknown.empty()) ask(unknown, "--" + option, launch.line);
    }
    const std::set<int> choices = readings.seen();
    for (const int choice : choices) {
      for (std::size_t k = 1; k < found_.unknowns.at(choice).alternatives.size(); ++k) {
        const Signature other = signature_of(readings.words(launch.arguments, choice, k));
        if (other.values == first.values && other.open.empty() && other.unknown.empty()) continue;
        std::string which = "what arguments " + shown(launch.program, found_.unknowns) + " gets";
        for (const auto& [option, values] : other.values) {
          const auto found = first.values.find(option);
          if (found != first.values.end() && found->second == values) continue;
          which = "--" + option;
          break;
        }
        for (const auto& [option, values] : first.values) {
          if (!other.values.contains(option)) which = "--" + option;
        }
        ask({choice}, which, launch.line);
      }
    }
    return base;
  }

  // Several trainings: one after the other, or one of them.
  void compare_others(const std::vector<const shell::Launch*>& trainings, MegatronLaunch& result) const {
    const Signature first = signature_of(result.arguments);
    std::size_t different = 0;
    bool certain = trainings.front()->conditions.empty();
    for (std::size_t k = 1; k < trainings.size(); ++k) {
      Readings readings(found_.unknowns);
      const Signature other = signature_of(readings.words(trainings[k]->arguments, -1, 0));
      const bool same = other.values == first.values && other.unknown.empty();
      if (same) continue;
      ++different;
      if (!certain) {
        std::set<int> causes(trainings.front()->conditions.begin(), trainings.front()->conditions.end());
        ask(causes,
            "which training is started (line " + std::to_string(trainings.front()->line) + " or line " +
                std::to_string(trainings[k]->line) + ")",
            trainings.front()->line);
      }
      certain = certain || trainings[k]->conditions.empty();
    }
    if (different > 0) {
      result.notes.push_back("the script starts " + std::to_string(different + 1) +
                             " different trainings: this is the first, of line " +
                             std::to_string(trainings.front()->line));
    }
  }

  void find_config(const shell::Launch& launch, MegatronLaunch& result) const {
    MegatronArguments arguments(result.arguments);
    const auto path = arguments.word("deepspeed-config");
    if (!path || !launch.files || !given_.needs_ranks) return;
    result.config_path = shown(*path, found_.unknowns);
    const std::string whole = shell::whole_path(*path, launch.folder);
    const auto found = launch.files->find(whole);
    std::optional<std::string> text;
    if (found != launch.files->end() && !found->second.folder && !found->second.lost) text = found->second.content;
    if (!text && given_.shell.read && !has_mark(whole)) text = given_.shell.read(whole);
    if (!text) return;
    while (text->ends_with("\n")) text->pop_back();
    if (is_mark(*text)) {
      const std::vector<int> content = marks(*text);
      ask({content.begin(), content.end()}, "DeepSpeed's configuration " + result.config_path, launch.line);
    }
    result.config = *text;
  }

  void count_ranks(const shell::Launch& launch, MegatronLaunch& result) const {
    if (given_.gpus) {
      result.ranks = given_.gpus;
      return;
    }
    const RankCount count = rank_count(launch);
    result.ranks = count.ranks;
    if (count.ranks) return;
    result.missing_ranks = count.missing;
    if (count.causes.empty() || !given_.needs_ranks) return;
    ask({count.causes.begin(), count.causes.end()}, "the number of ranks (" + count.missing + ")", launch.line);
  }

  void add_notes(MegatronLaunch& result) const {
    for (const shell::Note& note : found_.notes) {
      result.notes.push_back(note.text + (note.line > 0 ? " (line " + std::to_string(note.line) + ")" : ""));
    }
    std::string unset;
    for (const auto& [name, value] : found_.unset) {
      unset += (unset.empty() ? "" : ", ") + name + (value.empty() ? "" : " (" + shown(value, found_.unknowns) + ")");
    }
    if (unset.empty()) return;
    result.notes.push_back(
        "taken as not set outside of the script, with their defaults (--set NAME=VALUE changes one): " + unset);
  }

  std::string name_;
  const LaunchGiven& given_;
  shell::Evaluation found_;
};

}  // namespace

MegatronLaunch read_launch(const std::string& text, const std::string& name, const LaunchGiven& given) {
  const std::string recipe = recipe_list(text);
  const bool bare = !recipe.empty() || is_bare_list(text);
  if (!bare) return Reader(name, given).run(text);
  // All of it is one command's words.
  const std::string& list = recipe.empty() ? text : recipe;
  MegatronLaunch result;
  try {
    const shell::Evaluation found =
        shell::evaluate_script("A=(\n" + list + "\n)\nprogram.py \"${A[@]}\"\n", given.shell);
    if (found.launches.size() == 1) {
      for (const std::string& word : found.launches.front().arguments) {
        for (const int root : found.unknowns.roots(marks(word))) {
          const std::string setter = found.unknowns.at(root).setter;
          fail("P030", name, "an argument depends on " + printable(found.unknowns.at(root).what),
               setter.empty() ? "write its value" : printable("say it: --set " + setter + "=VALUE"));
        }
        result.arguments.push_back(word);
      }
    }
  } catch (const shell::SyntaxError& error) {
    fail("P031", name + ":" + std::to_string(std::max(1, error.line() - 1)),
         "the arguments cannot be read: " + std::string(error.what()), "write them as a shell would get them");
  }
  result.script = false;
  result.ranks = given.gpus;
  if (result.arguments.empty()) {
    fail("P010", name, "there are no arguments like --num-layers 24",
         "give the script that starts Megatron-LM, its arguments in a file, or a whole training log");
  }
  return result;
}

std::string launch_place(const MegatronLaunch& launch, const std::string& name) {
  return launch.script && launch.line > 0 ? name + ":" + std::to_string(launch.line) : name;
}

}  // namespace debubble
