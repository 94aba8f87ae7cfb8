// Patterns of the shell (*, ?, [a-z], and @(a|b) and its like) and what ${name#pattern} does with them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace debubble::shell {

// A backslash takes a character's meaning. Time: pattern times text.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);
// What stands before special characters of a pattern where they are to be plain.
[[nodiscard]] std::string escaped_for_pattern(std::string_view text);
[[nodiscard]] std::string escaped_for_regex(std::string_view text);

[[nodiscard]] std::string without_prefix(const std::string& text, const std::string& pattern, bool longest);
[[nodiscard]] std::string without_suffix(const std::string& text, const std::string& pattern, bool longest);
// "/": the first; "//": all; "/#": at the begin; "/%": at the end.
[[nodiscard]] std::string replaced(const std::string& text, const std::string& op, const std::string& pattern,
                                   const std::string& by);

struct RegexMatch {
  bool found = false;
  std::vector<std::string> groups;  // the whole match first
  std::size_t begin = 0;
  std::size_t length = 0;
};

// A POSIX extended (or basic) regular expression, compiled once, for the first text.
class Regex {
 public:
  explicit Regex(std::string expression = "", bool extended = true, bool ignore_case = false);

  [[nodiscard]] const std::string& expression() const { return expression_; }
  // Throws std::invalid_argument for an expression that is none, and for what is too long.
  [[nodiscard]] RegexMatch match(const std::string& text);

 private:
  class Compiled;

  std::string expression_;
  bool extended_;
  bool ignore_case_;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace debubble::shell
