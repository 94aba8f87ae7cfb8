// [ ... ], test, and [[ ... ]].
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "formats/shell/expansion.hpp"
#include "formats/shell/machine.hpp"
#include "formats/shell/patterns.hpp"
#include "sim/core/numbers.hpp"

namespace debubble::shell {
namespace {

std::optional<std::int64_t> whole_number(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return std::nullopt;
  const std::size_t end = text.find_last_not_of(" \t\n") + 1;
  const std::size_t sign = text[begin] == '+' ? 1 : 0;
  return read_whole<std::int64_t>(std::string_view(text).substr(begin + sign, end - begin - sign));
}

bool compares(const std::string& op, std::int64_t a, std::int64_t b) {
  if (op == "-eq") return a == b;
  if (op == "-ne") return a != b;
  if (op == "-lt") return a < b;
  if (op == "-le") return a <= b;
  if (op == "-gt") return a > b;
  return a >= b;
}

bool is_comparison(const std::string& op) {
  return op == "-eq" || op == "-ne" || op == "-lt" || op == "-le" || op == "-gt" || op == "-ge";
}

Answer negated(Answer answer) {
  answer.yes = !answer.yes;
  if (answer.otherwise >= 0) answer.otherwise = 1 - answer.otherwise;
  return answer;
}

Answer both(const Answer& a, const Answer& b) {
  if ((a.known && !a.yes) || (b.known && !b.yes)) return Answer{false, true};
  if (a.known && b.known) return Answer{true, true};
  Answer result{false, false, a.known ? std::vector<int>{} : a.causes};
  if (!b.known) result.causes.insert(result.causes.end(), b.causes.begin(), b.causes.end());
  const int first = a.known ? 1 : a.otherwise;
  const int second = b.known ? 1 : b.otherwise;
  if (first == 0 || second == 0) result.otherwise = 0;
  if (first == 1 && second == 1) result.otherwise = 1;
  return result;
}

}  // namespace

Answer Machine::is_empty(const std::string& text) {
  if (!has_mark(text)) return Answer{text.empty(), true};
  const int first = marks(text).front();
  if (is_mark(text) && unknowns_.has(first) && unknowns_.at(first).outside) return Answer{false, false, {first}, 1};
  bool any = false;
  bool all = true;
  for (const std::string& reading : unknowns_.readings(text)) {
    std::string known;  // characters beside the marks make it not empty
    for (std::size_t k = 0; k < reading.size(); ++k) {
      if (reading[k] == '\x01') {
        k = std::min(reading.find('\x02', k), reading.size());
      } else {
        known += reading[k];
      }
    }
    if (known.empty() && has_mark(reading)) return Answer{false, false, marks(text)};
    any = any || known.empty();
    all = all && known.empty();
  }
  if (any != all) return Answer{false, false, marks(text)};
  return Answer{any, true};
}

Answer Machine::equals(const std::string& a, const std::string& b) {
  if (!has_mark(a) && !has_mark(b)) return Answer{a == b, true};
  if (b.empty()) return is_empty(a);
  if (a.empty()) return is_empty(b);
  if (a == b && marks(a).size() == 1) return Answer{true, true};
  return has_mark(b) && !has_mark(a) ? matching(b, escaped_for_pattern(a))
                                     : matching(a, has_mark(b) ? b : escaped_for_pattern(b));
}

Answer Machine::compare(const std::string& op, const std::string& a, const std::string& b, bool expressions) {
  const auto value = [&](const std::string& text) -> std::optional<std::int64_t> {
    if (!expressions) return whole_number(text);
    const ArithmeticResult result = arithmetic(text);
    return result.known ? std::optional(result.value) : std::nullopt;
  };
  std::optional<bool> same;
  for (const std::string& one : unknowns_.readings(a)) {
    for (const std::string& other : unknowns_.readings(b)) {
      if (has_mark(one) || has_mark(other)) return Answer{false, false, marks(a + b)};
      const auto x = value(one);
      const auto y = value(other);
      if (!x || !y) {
        if (expressions) {  // a variable's value is not known
          ArithmeticResult result = arithmetic(x ? other : one);
          return Answer{false, false, result.causes};
        }
        if (has_mark(a + b)) return Answer{false, false, marks(a + b)};
        throw CommandFailure{2};  // "integer expression expected"
      }
      const bool yes = compares(op, *x, *y);
      if (same && *same != yes) return Answer{false, false, marks(a + b)};
      same = yes;
    }
  }
  return Answer{same.value_or(false), true};
}

// [[ -v name ]], [[ -v name[index] ]]
Answer Machine::is_set(const std::string& text) {
  if (has_mark(text)) return Answer{false, false, marks(text)};
  const std::size_t bracket = text.find('[');
  const bool item = bracket != std::string::npos && text.back() == ']';
  const std::string name = target_of(text.substr(0, bracket));
  const std::string index = item ? text.substr(bracket + 1, text.size() - bracket - 2) : "0";
  const auto found = state_.variables.find(name);
  if (found == state_.variables.end()) {
    const ParameterValue value = unset_variable(name, false);
    if (value.set || value.script) return Answer{value.set, true};
    return Answer{false, false, marks(outside_mark(name)), 0};
  }
  const Variable& variable = found->second;
  if (index == "@" || index == "*") return Answer{!variable.items.empty() || !variable.keyed.empty(), true};
  if (variable.has_keys) return Answer{variable.keyed.contains(index), true};
  const ArithmeticResult where = arithmetic(index);
  if (!where.known) return Answer{false, false, where.causes};
  const auto value = variable.items.find(where.value);
  if (value == variable.items.end()) return Answer{false, true};
  // Where one of two branches sets it, the other reading of it is empty.
  const Answer empty = has_mark(value->second) ? is_empty(value->second) : Answer{false, true};
  return empty.known ? Answer{true, true} : negated(empty);
}

Answer Machine::unary_test(const std::string& op, const std::string& text) {
  if (op == "-z") return is_empty(text);
  if (op == "-n") return negated(is_empty(text));
  if (op == "-v") return is_set(text);
  if (op == "-t" || op == "-o") return Answer{false, true};
  return is_there(text, op[1]);
}

Answer Machine::test(const TestNode& node) {
  if (node.op == "&&" || node.op == "||") {
    const Answer left = test(node.children[0]);
    if (left.known && left.yes == (node.op == "||")) return left;
    const Answer right = test(node.children[1]);
    return node.op == "&&" ? both(left, right) : negated(both(negated(left), negated(right)));
  }
  if (node.op == "!") return negated(test(node.children[0]));
  const std::string first = single(node.words[0]);
  if (node.words.size() == 1) return node.op == "word" ? negated(is_empty(first)) : unary_test(node.op, first);
  if (is_comparison(node.op)) return compare(node.op, first, single(node.words[1]), true);
  if (node.op == "==" || node.op == "!=") {
    const std::string against = pattern(node.words[1]);
    const bool twins = first == single(node.words[1]) && has_mark(first) && marks(first).size() == 1;
    const Answer answer = twins ? Answer{true, true} : against.empty() ? is_empty(first) : matching(first, against);
    return node.op == "==" ? answer : negated(answer);
  }
  if (node.op == "=~") {
    const std::string expression = regex(node.words[1]);
    if (has_mark(first + expression)) {
      state_.variables["BASH_REMATCH"] = Variable{{{0, mark_of(marks(first + expression), "BASH_REMATCH")}}, {}, true};
      return Answer{false, false, marks(first + expression)};
    }
    return regex_test(first, expression);
  }
  const std::string second = single(node.words[1]);
  if (has_mark(first + second)) return Answer{false, false, marks(first + second)};
  if (node.op == "<") return Answer{first < second, true};
  if (node.op == ">") return Answer{first > second, true};
  return Answer{false, false, {unknowns_.add({.what = "which of two files is newer", .line = line_})}};
}

Answer Machine::regex_test(const std::string& text, const std::string& expression) {
  try {
    spend(1 + text.size());
    const RegexMatch match = Regex(expression).match(text);
    Variable groups{.array = true};
    for (std::size_t k = 0; k < match.groups.size(); ++k) {
      groups.items[static_cast<std::int64_t>(k)] = match.groups[k];
    }
    state_.variables["BASH_REMATCH"] = groups;
    return Answer{match.found, true};
  } catch (const std::invalid_argument&) {
    throw CommandFailure{2};
  }
}

namespace {

// [ a -a b ], as far as its words can be told apart.
class WordTest {
 public:
  WordTest(Machine& machine, const Strings& words) : machine_(machine), words_(words) {}

  Answer run() {
    if (words_.empty()) return Answer{false, true};
    Answer answer = any();
    if (at_ < words_.size()) throw CommandFailure{2};  // "too many arguments"
    return answer;
  }

 private:
  [[nodiscard]] std::size_t left() const { return words_.size() - at_; }
  [[nodiscard]] bool next(const char* word) const { return at_ < words_.size() && words_[at_] == word; }

  Answer any() {
    Answer answer = all();
    while (next("-o")) {
      ++at_;
      answer = negated(both(negated(answer), negated(all())));
    }
    return answer;
  }

  Answer all() {
    Answer answer = one();
    while (next("-a")) {
      ++at_;
      answer = both(answer, one());
    }
    return answer;
  }

  static bool binary(const std::string& word) {
    return word == "=" || word == "==" || word == "!=" || word == "<" || word == ">" || is_comparison(word) ||
           word == "-nt" || word == "-ot" || word == "-ef";
  }

  Answer one() {
    if (++depth_ > 100 || at_ >= words_.size()) throw CommandFailure{2};
    if (left() >= 3 && binary(words_[at_ + 1])) return comparison();
    if (next("!") && left() > 1) {
      ++at_;
      return negated(one());
    }
    if (next("(") && left() > 2) {
      ++at_;
      Answer answer = any();
      if (!next(")")) throw CommandFailure{2};
      ++at_;
      return answer;
    }
    const std::string& word = words_[at_];
    if (word.size() == 2 && word[0] == '-' && left() >= 2 && word != "-a" && word != "-o") {
      at_ += 2;
      return machine_.unary_test(word, words_[at_ - 1]);
    }
    ++at_;
    return negated(machine_.is_empty(word));
  }

  Answer comparison() {
    const std::string& first = words_[at_];
    const std::string& op = words_[at_ + 1];
    const std::string& second = words_[at_ + 2];
    at_ += 3;
    if (is_comparison(op)) return machine_.compare(op, first, second, false);
    if (op == "=" || op == "==") return machine_.equals(first, second);
    if (op == "!=") return negated(machine_.equals(first, second));
    if (has_mark(first + second)) return Answer{false, false, marks(first + second)};
    if (op == "<") return Answer{first < second, true};
    if (op == ">") return Answer{first > second, true};
    const int number = machine_.unknowns().add({.what = "which of two files is newer", .line = machine_.line()});
    return Answer{false, false, {number}};
  }

  Machine& machine_;
  const Strings& words_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Answer Machine::test(const Strings& words) {
  // A word that may be none or several: nobody can tell the test's form.
  if (words.size() == 1 && is_mark(words.front())) return negated(is_empty(words.front()));
  return WordTest(*this, words).run();
}

}  // namespace debubble::shell
