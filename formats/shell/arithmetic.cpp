#include "formats/shell/arithmetic.hpp"

#include <array>
#include <cctype>
#include <limits>
#include <string_view>
#include <utility>

#include "formats/shell/counted.hpp"
#include "formats/shell/unknowns.hpp"

namespace debubble::shell {
namespace {

using Result = ArithmeticResult;
using Number = std::int64_t;

Number wrapped(std::uint64_t value) { return static_cast<Number>(value); }
std::uint64_t bits(Number value) { return static_cast<std::uint64_t>(value); }

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

struct Level {
  std::array<std::string_view, 4> operators;
};

// Weakest first, without ?:, assignment and the comma.
constexpr std::array<Level, 10> kLevels{{{{"||"}},
                                         {{"&&"}},
                                         {{"|"}},
                                         {{"^"}},
                                         {{"&"}},
                                         {{"==", "!="}},
                                         {{"<=", ">=", "<", ">"}},
                                         {{"<<", ">>"}},
                                         {{"+", "-"}},
                                         {{"*", "/", "%"}}}};

constexpr std::array<std::string_view, 11> kAssignments{
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "<<=", ">>=", "^="};

class Expression {
 public:
  Expression(const std::string& text, const ArithmeticVariables& variables, int depth)
      : text_(text), variables_(variables), depth_(depth) {
    if (depth > 64) throw ArithmeticError("variables refer to each other without end");
  }

  Result all() {
    skip();
    if (position_ >= text_.size()) return {};
    Result result = comma();
    skip();
    if (position_ < text_.size()) throw ArithmeticError("\"" + text_ + "\" is no arithmetic expression");
    return result;
  }

 private:
  struct Place {
    std::string name;
    std::string index;
  };

  [[nodiscard]] Counted nested() {
    if (depth_ >= 100) throw ArithmeticError("the expression is nested too deep");
    return Counted(depth_);
  }

  void skip() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0) ++position_;
  }

  [[nodiscard]] bool at(std::string_view text) {
    skip();
    return std::string_view(text_).substr(position_, text.size()) == text;
  }

  bool take(std::string_view text) {
    if (!at(text)) return false;
    position_ += text.size();
    return true;
  }

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  static Result both(const Result& a, const Result& b) {
    Result result{.known = a.known && b.known, .causes = a.causes};
    result.causes.insert(result.causes.end(), b.causes.begin(), b.causes.end());
    return result;
  }

  Result comma() {
    Result result = assignment();
    while (take(",")) result = assignment();
    return result;
  }

  Result assignment() {
    const Counted depth = nested();
    skip();
    const std::size_t before = position_;
    if (letter(peek())) {
      const Place place = name();
      skip();
      for (const std::string_view op : kAssignments) {
        if (!at(op) || (op == "=" && peek(1) == '=')) continue;
        position_ += op.size();
        Result value = assignment();
        if (op != "=") value = applied(op.substr(0, op.size() - 1), read(place), value);
        write(place, value);
        return value;
      }
      position_ = before;
    }
    return conditional();
  }

  Result conditional() {
    Result condition = binary(0);
    if (!take("?")) return condition;
    const int hidden = silent_;
    if (condition.known && condition.value == 0) ++silent_;
    Result yes = assignment();
    silent_ = hidden;
    if (!take(":")) throw ArithmeticError("\":\" is missing in \"" + text_ + "\"");
    if (condition.known && condition.value != 0) ++silent_;
    Result no = assignment();
    silent_ = hidden;
    if (condition.known) return condition.value != 0 ? yes : no;
    if (yes.known && no.known && yes.value == no.value) return yes;
    Result result = both(both(condition, yes), no);
    return result;
  }

  // Longer operators first; "<" is not the begin of "<<", "&" not that of "&&", nor any of them that of an assignment.
  bool take_operator(std::string_view op) {
    if (op.empty() || !at(op)) return false;
    const char next = peek(op.size());
    if (op.size() == 1 && std::string_view("<>&|").find(op[0]) != std::string_view::npos && next == op[0]) return false;
    const bool assigns = next == '=' && op != "==" && op != "!=" && op != "<=" && op != ">=" && op != "<" && op != ">";
    if (assigns) return false;
    if (op == "*" && next == '*') return false;
    position_ += op.size();
    return true;
  }

  Result binary(std::size_t level) {
    if (level == kLevels.size()) return power();
    Result left = binary(level + 1);
    while (true) {
      std::string_view used;
      for (const std::string_view op : kLevels[level].operators) {
        if (!take_operator(op)) continue;
        used = op;
        break;
      }
      if (used.empty()) return left;
      const int hidden = silent_;
      if (left.known && ((used == "&&" && left.value == 0) || (used == "||" && left.value != 0))) ++silent_;
      const Result right = binary(level + 1);
      silent_ = hidden;
      left = applied(used, left, right);
    }
  }

  Result power() {
    const Counted depth = nested();
    Result base = unary();
    if (!take("**")) return base;
    const Result exponent = power();
    Result result = both(base, exponent);
    if (!result.known) return result;
    if (exponent.value < 0) throw ArithmeticError("an exponent is negative");
    std::uint64_t value = 1;
    std::uint64_t factor = bits(base.value);
    for (std::uint64_t left = bits(exponent.value); left > 0; left >>= 1U) {
      if ((left & 1U) != 0) value *= factor;
      factor *= factor;
    }
    result.value = wrapped(value);
    return result;
  }

  Result unary() {
    const Counted depth = nested();
    skip();
    if (at("++") || at("--")) {
      const std::string_view op = peek() == '+' ? "+" : "-";
      if (position_ + 2 < text_.size() && letter(peek(2))) {
        position_ += 2;
        const Place place = name();
        const Result value = applied(op, read(place), Result{.value = 1});
        write(place, value);
        return value;
      }
    }
    if (take("+")) return unary();
    if (take("-")) return applied("-", Result{}, unary());
    if (peek() == '!' && peek(1) != '=') {
      ++position_;
      Result value = unary();
      value.value = value.value == 0 ? 1 : 0;
      return value;
    }
    if (take("~")) {
      Result value = unary();
      value.value = ~value.value;
      return value;
    }
    return primary();
  }

  Result primary() {
    skip();
    if (take("(")) {
      Result result = comma();
      if (!take(")")) throw ArithmeticError("\")\" is missing in \"" + text_ + "\"");
      return result;
    }
    if (peek() == '\x01') {
      const std::size_t end = text_.find('\x02', position_);
      if (end == std::string::npos) throw ArithmeticError("no number");
      Result result{.known = false, .causes = marks(text_.substr(position_, end + 1 - position_))};
      position_ = end + 1;
      // What is part of a number is not known altogether.
      while (letter(peek()) || digit(peek())) ++position_;
      return result;
    }
    if (digit(peek())) return number();
    if (!letter(peek())) throw ArithmeticError("\"" + text_ + "\" is no arithmetic expression");
    const Place place = name();
    Result value = read(place);
    if (at("++") || at("--")) {
      const std::string_view op = peek() == '+' ? "+" : "-";
      position_ += 2;
      write(place, applied(op, value, Result{.value = 1}));
    }
    return value;
  }

  Result number() {
    std::string word;
    while (letter(peek()) || digit(peek()) || peek() == '#' || peek() == '@') word += text_[position_++];
    if (peek() == '\x01') {  // "1$X": digits that are not known follow
      Result rest = primary();
      rest.known = false;
      return rest;
    }
    Number base = 10;
    std::string_view digits = word;
    if (const std::size_t sharp = word.find('#'); sharp != std::string::npos) {
      base = 0;
      for (const char c : word.substr(0, sharp)) base = digit(c) && base < 1000 ? base * 10 + (c - '0') : 1000;
      if (base < 2 || base > 36) throw ArithmeticError("\"" + word + "\" has no base from 2 to 36");
      digits = digits.substr(sharp + 1);
    } else if (word.size() > 1 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) {
      base = 16;
      digits = digits.substr(2);
    } else if (word.size() > 1 && word[0] == '0') {
      base = 8;
      digits = digits.substr(1);
    }
    std::uint64_t value = 0;
    for (const char c : digits) {
      const int lower = std::tolower(static_cast<unsigned char>(c));
      const int one = digit(c) ? c - '0' : lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
      if (one >= base) throw ArithmeticError("\"" + word + "\" is no whole number");
      value = value * bits(base) + static_cast<std::uint64_t>(one);
    }
    return Result{.value = wrapped(value)};
  }

  Place name() {
    Place place;
    while (letter(peek()) || digit(peek())) place.name += text_[position_++];
    if (peek() == '[') {
      const std::size_t begin = ++position_;
      int depth = 1;
      while (position_ < text_.size() && depth > 0) {
        if (text_[position_] == '[') ++depth;
        if (text_[position_] == ']') --depth;
        ++position_;
      }
      if (depth > 0) throw ArithmeticError("a [ is not closed");
      place.index = text_.substr(begin, position_ - begin - 1);
    }
    return place;
  }

  Result read(const Place& place) {
    const std::string text = variables_.read(place.name, place.index);
    return Expression(text, variables_, depth_ + 1).all();
  }

  void write(const Place& place, const Result& value) {
    if (silent_ > 0) return;
    std::string text = std::to_string(value.value);
    if (!value.known) {
      text.clear();
      for (const int cause : value.causes) text += mark(cause);
    }
    variables_.write(place.name, place.index, text);
  }

  Result applied(std::string_view op, const Result& a, const Result& b) const {
    Result result = both(a, b);
    if (op == "&&" && ((a.known && a.value == 0) || (b.known && b.value == 0))) return Result{};
    if (op == "||" && ((a.known && a.value != 0) || (b.known && b.value != 0))) return Result{.value = 1};
    if (!result.known) return result;
    const Number x = a.value;
    const Number y = b.value;
    const std::uint64_t shift = bits(y) & 63U;
    if (op == "+") result.value = wrapped(bits(x) + bits(y));
    if (op == "-") result.value = wrapped(bits(x) - bits(y));
    if (op == "*") result.value = wrapped(bits(x) * bits(y));
    if (op == "/" || op == "%") {
      if (silent_ > 0 && y == 0) return Result{};
      if (y == 0) throw ArithmeticError("a division by zero");
      const bool largest = x == std::numeric_limits<Number>::min() && y == -1;
      result.value = op == "/" ? (largest ? x : x / y) : (largest ? 0 : x % y);
    }
    if (op == "<<") result.value = wrapped(bits(x) << shift);
    if (op == ">>") result.value = x >> shift;
    if (op == "&") result.value = x & y;
    if (op == "|") result.value = x | y;
    if (op == "^") result.value = x ^ y;
    if (op == "==") result.value = x == y ? 1 : 0;
    if (op == "!=") result.value = x != y ? 1 : 0;
    if (op == "<") result.value = x < y ? 1 : 0;
    if (op == ">") result.value = x > y ? 1 : 0;
    if (op == "<=") result.value = x <= y ? 1 : 0;
    if (op == ">=") result.value = x >= y ? 1 : 0;
    if (op == "&&") result.value = x != 0 && y != 0 ? 1 : 0;
    if (op == "||") result.value = x != 0 || y != 0 ? 1 : 0;
    return result;
  }

  std::string text_;
  std::size_t position_ = 0;
  const ArithmeticVariables& variables_;
  int depth_;
  int silent_ = 0;  // inside what the shell would not evaluate
};

}  // namespace

ArithmeticResult evaluate_arithmetic(const std::string& text, const ArithmeticVariables& variables, int depth) {
  if (text.size() > 10000) throw ArithmeticError("an expression is longer than 10,000 characters");
  return Expression(text, variables, depth).all();
}

}  // namespace debubble::shell
