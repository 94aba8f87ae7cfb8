// Patterns of the shell (*, ?, [a-z], and @(a|b) and its like) and what ${name#pattern} does with them.
#pragma once

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

// POSIX extended (or basic) regular expressions. Throws std::invalid_argument for what is none or too long.
struct RegexMatch {
  bool found = false;
  std::vector<std::string> groups;  // the whole match first
  std::size_t begin = 0;
  std::size_t length = 0;
};
[[nodiscard]] RegexMatch match_regex(const std::string& expression, const std::string& text, bool extended = true,
                                     bool ignore_case = false);

}  // namespace debubble::shell
