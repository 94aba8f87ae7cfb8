#include "formats/frameworks/toml_check.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "formats/json/json_tree.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr std::size_t kLongestNumber = 50;

bool is_outside_ascii(char c) { return static_cast<unsigned char>(c) > 0x7F; }
bool is_in(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

class TomlScanner {
 public:
  explicit TomlScanner(std::string_view text) : text_(text), at_(text.starts_with("\xEF\xBB\xBF") ? 3 : 0) {}

  std::optional<TomlFault> fault() {
    while (!fault_ && at_ < text_.size()) step();
    return fault_;
  }

 private:
  // The character that comes so many later; a NUL, which none of our tests is for, behind the end.
  [[nodiscard]] char peek(std::size_t later = 0) const {
    return at_ + later < text_.size() ? text_[at_ + later] : '\0';
  }
  [[nodiscard]] bool outside_ascii() const { return is_outside_ascii(peek()); }

  void refuse(const char* what, const char* help, const char* code = "P001") {
    if (!fault_) fault_ = TomlFault{line_, code, what, help};
  }

  void advance(std::size_t count = 1) {
    for (; count > 0 && at_ < text_.size(); --count) {
      if (text_[at_++] == '\n') ++line_;
    }
  }
  void skip(std::string_view set) {
    while (at_ < text_.size() && is_in(text_[at_], set)) advance();
  }
  void skip_until(std::string_view set) {
    while (at_ < text_.size() && !is_in(text_[at_], set)) advance();
  }

  void step() {
    const char c = peek();
    if (is_in(c, " \t\r")) return advance();
    if (c == '#') return skip_until("\n");
    if (c == '\n' && !open_.empty()) return advance();
    if (c == '[' && last_ == '\n' && open_.empty()) return header();
    if (is_in(c, "\"'")) return string();
    if (is_in(c, "[{")) return open(c);
    if (is_in(c, "]}")) return close(c);
    if (outside_ascii()) return refuse_stranger();
    if (!is_in(c, "=,\n")) return word();
    key_ = c == '=' ? dots_ : 0;
    dots_ = 0;
    last_ = c;
    advance();
  }

  // [key] or [[key]]
  void header() {
    advance(peek(1) == '[' ? 2 : 1);
    skip(" \t");
    const char c = peek();
    const bool key =
        is_digit(c) || is_in(static_cast<char>(c | 0x20), "abcdefghijklmnopqrstuvwxyz") || is_in(c, "-_\"'");
    if (!key) {
      return refuse("the name of a table begins with a character that none may begin with", "write it in quotes");
    }
    dots_ = header_ = 0;
    while (!fault_ && at_ < text_.size() && !is_in(peek(), "]#\n")) {
      if (is_in(peek(), "\"'")) {
        string();
      } else if (outside_ascii()) {
        refuse_stranger();
      } else {
        count_dot();
        advance();
      }
    }
    header_ = dots_;
    dots_ = 0;
    skip("]");
    last_ = ']';
  }

  void refuse_stranger() {
    refuse("a character outside of ASCII that is neither in quotes nor in a comment", "write it in quotes");
  }
  void refuse_depth() { refuse("nested more than 32 deep", "no configuration is so deep", "P018"); }

  void count_dot() {
    static_assert(kDeepestNesting == 32);
    if (peek() == '.') ++dots_;
    check_depth();
  }

  // Parts of the header's name, of the keys of all that is open, and of this key, each of which makes a level.
  void check_depth() {
    if (header_ + around_.size() + depth_around_ + dots_ > kDeepestNesting) refuse_depth();
  }

  void open(char bracket) {
    open_ += bracket;
    around_.push_back(key_);
    depth_around_ += key_;
    key_ = dots_ = 0;
    check_depth();
    last_ = bracket;
    advance();
  }

  void close(char bracket) {
    if (open_.empty() || (open_.back() == '[') != (bracket == ']')) {
      return refuse("a bracket closes what it did not open", "brackets come in pairs");
    }
    open_.pop_back();
    depth_around_ -= around_.back();
    around_.pop_back();
    last_ = bracket;
    advance();
  }

  // To toml++ quotes end no number, and T is where the time of a date begins.
  void pass_number(bool second) {
    const std::string_view number = text_.substr(at_, text_.find_first_of(" \t\r\n\v\f]},#", at_) - at_);
    if (std::any_of(number.begin(), number.end(), is_outside_ascii)) refuse_stranger();
    if (number.size() > kLongestNumber) refuse("a number of more than 50 characters", "write fewer digits");
    if (second && number.size() < 2) refuse("two numbers side by side", "one value, or a comma between two");
    for (std::size_t at = 0; (at = number.find_first_of("Tt", at)) < number.size();) {
      if (++at == number.size() || !is_digit(number[at])) refuse("a date without its time", "as 2026-01-31T08:00:00");
    }
    last_ = '1';
    advance(number.size());
  }

  void word() {
    const bool item = is_in(last_, "[,") && !open_.empty() && open_.back() == '[';
    const bool second = last_ == '1';  // behind a date there may be a time
    const bool number = (last_ == '=' || item || second) && (is_digit(peek()) || is_in(peek(), "+-"));
    if (number) return pass_number(second);
    last_ = 'a';
    while (at_ < text_.size() && !outside_ascii() && !is_in(peek(), " \t\r\n#=,[]{}\"'")) {
      count_dot();
      advance();
    }
  }

  void string() {
    const char quote = peek();
    const bool escapes = quote == '"';
    const bool long_one = peek(1) == quote && peek(2) == quote;
    last_ = 'a';
    advance(long_one ? 3 : 1);
    while (!fault_ && at_ < text_.size()) {
      if (peek() == quote) {
        std::size_t quotes = 1;
        while (long_one && quotes < 5 && peek(quotes) == quote) ++quotes;
        advance(quotes);
        if (!long_one || quotes >= 3) return;
      } else if (escapes && peek() == '\\') {
        escape(long_one);
      } else {
        if (!long_one && peek() == '\n') return;
        advance();
      }
    }
  }

  void escape(bool long_one) {
    advance();
    if (long_one && is_in(peek(), " \t\r\n\v\f")) {
      skip(" \t\r\n");
    } else if (!outside_ascii()) {
      return advance();
    }
    if (long_one && outside_ascii()) {
      refuse("a character outside of ASCII follows a backslash", "join the lines, or write it as \\uXXXX");
    }
  }

  std::string_view text_;
  std::size_t at_;
  std::size_t line_ = 1;
  std::size_t dots_ = 0;          // in this key
  std::size_t key_ = 0;           // dots in the key that the value belongs to
  std::size_t header_ = 0;        // dots in the name of the table
  std::size_t depth_around_ = 0;  // dots in the keys of all that is open
  std::vector<std::size_t> around_;
  std::string open_;  // brackets
  char last_ = '\n';  // what came before blanks: 1 for a number, a for another word or a string, else itself
  std::optional<TomlFault> fault_;
};

}  // namespace

std::optional<TomlFault> toml_fault(std::string_view text) { return TomlScanner(text).fault(); }

}  // namespace debubble
