// Programs whose output follows from their input: cat, basename, seq, wc and their like.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "formats/shell/expansion.hpp"
#include "formats/shell/machine.hpp"
#include "formats/shell/text_filters.hpp"
#include "sim/core/numbers.hpp"

namespace debubble::shell {
namespace {

using Utility = bool (*)(Machine&, const Strings&);

struct Options {
  std::map<char, std::string> values;
  Strings operands;
  bool plain = true;  // all options were short ones that are known
};

// "-n 1 -d, file": `valued` are the letters that take a value.
Options options_of(const Strings& words, std::string_view letters, std::string_view valued) {
  Options options;
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string& word = words[k];
    if (word == "--") {
      options.operands.insert(options.operands.end(), words.begin() + static_cast<std::ptrdiff_t>(k) + 1, words.end());
      break;
    }
    if (word.size() < 2 || word[0] != '-' || is_mark(word)) {
      options.operands.push_back(word);
      continue;
    }
    for (std::size_t c = 1; c < word.size(); ++c) {
      if (valued.find(word[c]) != std::string_view::npos) {
        std::string value = word.substr(c + 1);
        if (value.empty() && k + 1 < words.size()) value = words[++k];
        options.values[word[c]] = value;
        break;
      }
      if (letters.find(word[c]) == std::string_view::npos) options.plain = false;
      options.values[word[c]] = "";
    }
  }
  return options;
}

// What the program would read: its files, or what is handed to it. Nothing where that is not known.
std::optional<std::string> input_of(Machine& machine, const Strings& files) {
  if (files.empty()) return machine.state().input;
  std::string all;
  for (const std::string& file : files) {
    const auto text = machine.read(file);
    if (!text) return std::nullopt;
    all += *text;
  }
  return all;
}

bool prints(Machine& machine, const std::string& text) {
  machine.print(text);
  machine.finish(0);
  return true;
}

// The input has something unknown in it: what comes out is not known, for the same reason.
bool prints_unknown(Machine& machine, const std::string& input, const Strings& words) {
  const std::vector<int> causes = marks(input);
  std::string before;
  if (!causes.empty() && machine.unknowns().has(causes.front())) before = machine.unknowns().at(causes.front()).what;
  const std::string command = shown(words.front(), machine.unknowns());
  const bool piped = before.starts_with("the output of `") && before.size() < 200;
  const std::string what =
      piped ? before.substr(0, before.size() - 1) + " | " + command + "`" : "the output of `" + command + "`";
  return prints(machine, machine.mark_of(causes, what) + "\n");
}

bool run_cat(Machine& machine, const Strings& words) {
  const Options options = options_of(words, "u", "");
  const auto text = input_of(machine, options.operands);
  if (!text || !options.plain) return false;
  return prints(machine, *text);
}

bool run_tee(Machine& machine, const Strings& words) {
  const Options options = options_of(words, "ai", "");
  const auto& text = machine.state().input;
  if (!text) return false;
  for (const std::string& file : options.operands) {
    if (!file.starts_with("/dev/")) machine.write_file(file, *text, options.values.contains('a'));
  }
  return prints(machine, *text);
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// A mark may hide a slash: then only what stands behind the last known one is certain.
bool run_basename(Machine& machine, const Strings& words) {
  if (words.size() < 2) return false;
  const std::string path = without_slashes(words[1]);
  const std::size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos || path.size() == 1 ? path : path.substr(slash + 1);
  if (has_mark(name)) return prints_unknown(machine, name, words);
  const std::string suffix = words.size() > 2 ? words[2] : "";
  if (!suffix.empty() && name.size() > suffix.size() && name.ends_with(suffix))
    name.resize(name.size() - suffix.size());
  return prints(machine, name + "\n");
}

bool run_dirname(Machine& machine, const Strings& words) {
  const std::size_t at = words.size() > 2 && words[1] == "--" ? 2 : 1;
  if (words.size() <= at) return false;
  const std::string path = without_slashes(words[at]);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    if (has_mark(path)) return prints_unknown(machine, path, words);
    return prints(machine, ".\n");
  }
  if (has_mark(path.substr(slash + 1))) return prints_unknown(machine, path, words);
  return prints(machine, (slash == 0 ? "/" : without_slashes(path.substr(0, slash))) + "\n");
}

bool run_realpath(Machine& machine, const Strings& words) {
  const Options options = options_of(words, "fems", "");
  if (options.operands.empty()) return false;
  std::string path = options.operands.front();
  for (std::size_t k = 1; k < options.operands.size(); ++k) {
    if (options.operands[k] != "path") path = options.operands[k];
  }
  return prints(machine, machine.path_of(path) + "\n");
}

std::optional<long long> integer(const std::string& text) {
  return read_whole_within(text, -1'000'000'000'000, 1'000'000'000'000);
}

bool run_seq(Machine& machine, const Strings& words) {
  Strings numbers;
  std::string separator = "\n";
  for (std::size_t k = 1; k < words.size(); ++k) {
    if (words[k] == "-s" && k + 1 < words.size()) {
      separator = words[++k];
    } else {
      numbers.push_back(words[k]);
    }
  }
  std::string all;
  for (const std::string& number : numbers) all += number;
  if (has_mark(all)) return prints_unknown(machine, all, words);
  if (numbers.empty() || numbers.size() > 3) return false;
  const auto first = numbers.size() > 1 ? integer(numbers.front()) : std::optional<long long>(1);
  const auto step = numbers.size() > 2 ? integer(numbers[1]) : std::optional<long long>(1);
  const auto last = integer(numbers.back());
  if (!first || !step || !last || *step == 0) return false;
  std::string text;
  bool begun = false;
  for (long long value = *first; *step > 0 ? value <= *last : value >= *last; value += *step) {
    machine.spend(1);
    text += (begun ? separator : "") + std::to_string(value);
    begun = true;
  }
  return prints(machine, begun ? text + "\n" : "");
}

bool run_wc(Machine& machine, const Strings& words) {
  const Options options = options_of(words, "lwc", "");
  const auto text = input_of(machine, options.operands);
  if (!text || !options.plain || options.values.size() != 1) return false;
  if (has_mark(*text)) return prints_unknown(machine, *text, words);
  long long count = 0;
  const char what = options.values.begin()->first;
  if (what == 'l') count = std::count(text->begin(), text->end(), '\n');
  if (what == 'c') count = static_cast<long long>(text->size());
  std::istringstream stream(*text);
  if (what == 'w') {
    for (std::string word; stream >> word;) ++count;
  }
  return prints(machine,
                std::to_string(count) + (options.operands.empty() ? "" : " " + options.operands.front()) + "\n");
}

bool run_expr(Machine& machine, const Strings& words) {
  std::string text;
  for (std::size_t k = 1; k < words.size(); ++k) text += words[k] + " ";
  const bool sums = text.find_first_not_of("0123456789+-*/%()<>=! \x01\x02") == std::string::npos;
  if (!sums) return false;
  try {
    const ArithmeticResult result = machine.arithmetic(text);
    if (!result.known) return prints(machine, machine.mark_of(result.causes, "expr") + "\n");
    machine.print(std::to_string(result.value) + "\n");
    machine.finish(result.value == 0 ? 1 : 0);
    return true;
  } catch (const CommandFailure&) {
    machine.finish(2);
    return true;
  }
}

// Whole-number sums; anything with a point is not known.
bool run_bc(Machine& machine, const Strings& words) {
  const auto& text = machine.state().input;
  if (!text) return false;
  if (has_mark(*text)) return prints_unknown(machine, *text, words);
  std::string sum = *text;
  while (!sum.empty() && (sum.back() == '\n' || sum.back() == ';')) sum.pop_back();
  if (sum.find_first_not_of("0123456789+-*/%() ") != std::string::npos) return false;
  const bool points = words.size() > 1 && sum.find_first_of("/%") != std::string::npos;  // bc -l
  if (points) return false;
  const ArithmeticResult result = machine.arithmetic(sum);
  return prints(machine, std::to_string(result.value) + "\n");
}

template <std::optional<std::string> (*Filter)(const Strings&, const std::string&, Strings&)>
bool run_filter(Machine& machine, const Strings& words) {
  Strings files;
  (void)Filter(words, "", files);  // which of the words are files
  const auto text = input_of(machine, files);
  if (!text) return false;
  std::string all = *text;
  for (const std::string& word : words) all += word;
  if (has_mark(all)) return prints_unknown(machine, all, words);
  machine.spend(1 + text->size() / 8);
  files.clear();
  const auto result = Filter(words, *text, files);
  if (!result) return false;
  return prints(machine, *result);
}

// With a command of its own it starts that one.
bool run_xargs(Machine& machine, const Strings& words) {
  const bool prints_words = words.size() == 1 || (words.size() == 2 && words[1] == "echo");
  return prints_words && run_filter<filter_xargs>(machine, words);
}

// sed -i changes its files.
bool run_sed(Machine& machine, const Strings& words) {
  const auto in_place =
      std::find_if(words.begin(), words.end(), [](const std::string& word) { return word.starts_with("-i"); });
  if (in_place == words.end()) return run_filter<filter_sed>(machine, words);
  Strings plain;
  for (const std::string& word : words) {
    if (!word.starts_with("-i")) plain.push_back(word);
  }
  Strings files;
  (void)filter_sed(plain, "", files);
  for (const std::string& file : files) {
    const auto text = machine.read(file);
    if (!text) continue;
    std::string all = *text;
    for (const std::string& word : plain) all += word;
    Strings unused;
    const auto result = has_mark(all) ? std::nullopt : filter_sed(plain, *text, unused);
    machine.write_file(file, result ? *result : machine.unknown_output(words), false);
  }
  machine.finish(0);
  return true;
}

bool run_grep(Machine& machine, const Strings& words) {
  Strings files;
  (void)filter_grep(words, "", files);
  const auto text = input_of(machine, files);
  if (!text) return false;
  std::string all = *text;
  for (const std::string& word : words) all += word;
  if (has_mark(all)) {
    machine.print(machine.mark_of(marks(all), "the output of `grep`") + "\n");
    machine.state().status = Status{0, false, marks(all)};
    return true;
  }
  files.clear();
  machine.spend(1 + text->size() / 4);
  const auto result = filter_grep(words, *text, files);
  if (!result) return false;
  const bool quiet = words.size() > 1 && words[1][0] == '-' && words[1].find('q') != std::string::npos;
  if (!quiet) machine.print(*result);
  const bool counts = words.size() > 1 && words[1][0] == '-' && words[1].find('c') != std::string::npos;
  machine.finish(counts ? (*result == "0\n" ? 1 : 0) : result->empty() ? 1 : 0);
  return true;
}

bool run_mkdir(Machine& machine, const Strings& words) {
  for (std::size_t k = 1; k < words.size(); ++k) {
    if (words[k].empty() || words[k][0] == '-') continue;
    machine.state().files[machine.path_of(words[k])] = File{"", true, false};
  }
  machine.finish(0);
  return true;
}

bool run_touch(Machine& machine, const Strings& words) {
  for (std::size_t k = 1; k < words.size(); ++k) {
    if (!words[k].empty() && words[k][0] != '-') machine.write_file(words[k], "", true);
  }
  machine.finish(0);
  return true;
}

bool run_rm(Machine& machine, const Strings& words) {
  for (std::size_t k = 1; k < words.size(); ++k) {
    if (words[k].empty() || words[k][0] == '-' || words[k].find_first_of("*?[") != std::string::npos) continue;
    machine.state().files[machine.path_of(words[k])] = File{"", false, true};
  }
  machine.finish(0);
  return true;
}

bool run_cp(Machine& machine, const Strings& words) {
  const Options options = options_of(words, "rfpavuR", "");
  if (options.operands.size() == 2) {
    const auto text = machine.read(options.operands[0]);
    const auto found = machine.state().files.find(machine.path_of(options.operands[1]));
    const bool into = found != machine.state().files.end() && found->second.folder;
    if (text && !into) machine.write_file(options.operands[1], *text, false);
  }
  machine.finish(0);
  return true;
}

bool run_sleep(Machine& machine, const Strings&) {
  machine.finish(0);
  return true;
}

const std::map<std::string, Utility>& utilities() {
  static const std::map<std::string, Utility> all{{"cat", run_cat},
                                                  {"tee", run_tee},
                                                  {"basename", run_basename},
                                                  {"dirname", run_dirname},
                                                  {"realpath", run_realpath},
                                                  {"readlink", run_realpath},
                                                  {"seq", run_seq},
                                                  {"wc", run_wc},
                                                  {"expr", run_expr},
                                                  {"bc", run_bc},
                                                  {"grep", run_grep},
                                                  {"egrep", run_grep},
                                                  {"mkdir", run_mkdir},
                                                  {"touch", run_touch},
                                                  {"rm", run_rm},
                                                  {"cp", run_cp},
                                                  {"sleep", run_sleep},
                                                  {"clear", run_sleep},
                                                  {"chmod", run_sleep},
                                                  {"ln", run_sleep},
                                                  {"sync", run_sleep},
                                                  {"head", run_filter<filter_head>},
                                                  {"tail", run_filter<filter_tail>},
                                                  {"tr", run_filter<filter_tr>},
                                                  {"cut", run_filter<filter_cut>},
                                                  {"sed", run_sed},
                                                  {"sort", run_filter<filter_sort>},
                                                  {"uniq", run_filter<filter_uniq>},
                                                  {"awk", run_filter<filter_awk>},
                                                  {"paste", run_filter<filter_paste>},
                                                  {"tac", run_filter<filter_tac>},
                                                  {"rev", run_filter<filter_rev>},
                                                  {"xargs", run_xargs}};
  return all;
}

}  // namespace

bool Machine::utility(const Strings& words) {
  const auto found = utilities().find(words.front());
  return found != utilities().end() && found->second(*this, words);
}

}  // namespace debubble::shell
