#include "formats/shell/patterns.hpp"

#include <regex.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <stdexcept>
#include <utility>

namespace debubble::shell {
namespace {

constexpr std::size_t kLongestExpression = 400;

bool in_class(std::string_view name, unsigned char c) {
  if (name == "alpha") return std::isalpha(c) != 0;
  if (name == "digit") return std::isdigit(c) != 0;
  if (name == "alnum") return std::isalnum(c) != 0;
  if (name == "space") return std::isspace(c) != 0;
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "upper") return std::isupper(c) != 0;
  if (name == "lower") return std::islower(c) != 0;
  if (name == "punct") return std::ispunct(c) != 0;
  if (name == "xdigit") return std::isxdigit(c) != 0;
  return false;
}

class Matcher {
 public:
  Matcher(std::string_view pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  bool run(std::size_t p, std::size_t t) {
    const auto key = std::make_pair(p, t);
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    if (++depth_ > 2000) return false;
    const bool result = step(p, t);
    --depth_;
    known_[key] = result;
    return result;
  }

 private:
  [[nodiscard]] char at(std::size_t p) const { return p < pattern_.size() ? pattern_[p] : '\0'; }

  // Plain characters are stepped over in a loop: only a choice recurses.
  bool step(std::size_t p, std::size_t t) {
    while (p < pattern_.size()) {
      const char c = pattern_[p];
      if (at(p + 1) == '(' && std::string_view("?*+@!").find(c) != std::string_view::npos) return group(p, t);
      if (c == '*') return star(p + 1, t);
      if (t >= text_.size()) return false;
      if (c == '?') {
        ++p;
        ++t;
        continue;
      }
      if (c == '[') {
        bool inside = false;
        const std::size_t end = bracket(p, text_[t], inside);
        if (end != 0) {
          if (!inside) return false;
          p = end;
          ++t;
          continue;
        }
      }
      if (c == '\\' && p + 1 < pattern_.size()) ++p;
      if (pattern_[p] != text_[t]) return false;
      ++p;
      ++t;
    }
    return t == text_.size();
  }

  bool star(std::size_t p, std::size_t t) {
    if (p == pattern_.size()) return true;
    for (std::size_t from = t; from <= text_.size(); ++from) {
      if (run(p, from)) return true;
    }
    return false;
  }

  // Behind the closing bracket; 0 where there is none.
  std::size_t bracket(std::size_t p, char c, bool& inside) const {
    std::size_t k = p + 1;
    const bool negated = at(k) == '!' || at(k) == '^';
    if (negated) ++k;
    bool found = false;
    for (bool first = true; k < pattern_.size() && (pattern_[k] != ']' || first); first = false) {
      if (pattern_[k] == '[' && at(k + 1) == ':') {
        const std::size_t end = pattern_.find(":]", k);
        if (end != std::string_view::npos) {
          found = found || in_class(pattern_.substr(k + 2, end - k - 2), static_cast<unsigned char>(c));
          k = end + 2;
          continue;
        }
      }
      if (pattern_[k] == '\\' && k + 1 < pattern_.size()) ++k;
      const char low = pattern_[k];
      char high = low;
      if (at(k + 1) == '-' && at(k + 2) != ']' && at(k + 2) != '\0') {
        k += 2;
        if (pattern_[k] == '\\' && k + 1 < pattern_.size()) ++k;
        high = pattern_[k];
      }
      found = found || (low <= c && c <= high);
      ++k;
    }
    if (k >= pattern_.size()) return 0;
    inside = found != negated;
    return k + 1;
  }

  // ?(a|b), *(a|b), +(a|b), @(a|b), !(a|b)
  bool group(std::size_t p, std::size_t t) {
    std::vector<std::string_view> choices;
    int depth = 0;
    std::size_t begin = p + 2;
    std::size_t k = begin;
    for (; k < pattern_.size(); ++k) {
      if (pattern_[k] == '\\') {
        ++k;
        continue;
      }
      if (pattern_[k] == '(') ++depth;
      if (pattern_[k] == ')' && depth-- == 0) break;
      if (pattern_[k] == '|' && depth == 0) {
        choices.push_back(pattern_.substr(begin, k - begin));
        begin = k + 1;
      }
    }
    if (k >= pattern_.size()) return false;
    choices.push_back(pattern_.substr(begin, k - begin));
    const char kind = pattern_[p];
    const std::size_t after = k + 1;
    if ((kind == '?' || kind == '*') && run(after, t)) return true;
    for (std::size_t end = t; end <= text_.size(); ++end) {
      const std::string_view piece = text_.substr(t, end - t);
      const bool any =
          std::any_of(choices.begin(), choices.end(), [&](std::string_view choice) { return matches(choice, piece); });
      if (any == (kind == '!')) continue;
      if (run(after, end)) return true;
      const bool again = (kind == '*' || kind == '+') && end > t;
      if (again && run(p, end)) return true;
    }
    return false;
  }

  std::string_view pattern_;
  std::string_view text_;
  std::map<std::pair<std::size_t, std::size_t>, bool> known_;
  int depth_ = 0;
};

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.find_first_of("*?[\\+@!") == std::string_view::npos) return pattern == text;
  return Matcher(pattern, text).run(0, 0);
}

std::string escaped_for_pattern(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("*?[]\\()|!+@^-").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string escaped_for_regex(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view(".*+?[](){}|^$\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string without_prefix(const std::string& text, const std::string& pattern, bool longest) {
  for (std::size_t k = 0; k <= text.size(); ++k) {
    const std::size_t length = longest ? text.size() - k : k;
    if (matches(pattern, std::string_view(text).substr(0, length))) return text.substr(length);
  }
  return text;
}

std::string without_suffix(const std::string& text, const std::string& pattern, bool longest) {
  for (std::size_t k = 0; k <= text.size(); ++k) {
    const std::size_t from = longest ? k : text.size() - k;
    if (matches(pattern, std::string_view(text).substr(from))) return text.substr(0, from);
  }
  return text;
}

std::string replaced(const std::string& text, const std::string& op, const std::string& pattern,
                     const std::string& by) {
  if (pattern.empty()) return text;
  std::string result;
  std::size_t from = 0;
  bool done = false;
  while (from < text.size()) {
    std::size_t length = 0;
    if (!done) {
      for (std::size_t end = text.size(); end > from; --end) {
        if (op == "/%" && end != text.size()) break;
        if (!matches(pattern, std::string_view(text).substr(from, end - from))) continue;
        length = end - from;
        break;
      }
    }
    if (op == "/#" && from > 0) length = 0;
    if (length == 0) {
      result += text[from++];
      continue;
    }
    result += by;
    from += length;
    done = op != "//";
  }
  return result;
}

class Regex::Compiled {
 public:
  Compiled(const std::string& expression, bool extended, bool ignore_case) {
    // Counted repetitions of repetitions take the memory of their product.
    const auto counted = std::count(expression.begin(), expression.end(), '{');
    if (expression.size() > kLongestExpression || counted > 4) throw std::invalid_argument("too long");
    const int flags = (extended ? REG_EXTENDED : 0) | (ignore_case ? REG_ICASE : 0);
    if (regcomp(&regex_, expression.c_str(), flags) != 0) throw std::invalid_argument("no regular expression");
  }
  ~Compiled() { regfree(&regex_); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  Compiled(Compiled&&) = delete;
  Compiled& operator=(Compiled&&) = delete;
  [[nodiscard]] const regex_t* get() const { return &regex_; }

 private:
  regex_t regex_{};
};

Regex::Regex(std::string expression, bool extended, bool ignore_case)
    : expression_(std::move(expression)), extended_(extended), ignore_case_(ignore_case) {}

RegexMatch Regex::match(const std::string& text) {
  if (!compiled_) compiled_ = std::make_shared<const Compiled>(expression_, extended_, ignore_case_);
  if (text.size() > 65536) throw std::invalid_argument("too long");
  std::array<regmatch_t, 10> found{};
  RegexMatch match;
  match.found = regexec(compiled_->get(), text.c_str(), found.size(), found.data(), 0) == 0;
  if (!match.found) return match;
  for (const regmatch_t& group : found) {
    if (group.rm_so < 0) {
      match.groups.emplace_back();
      continue;
    }
    match.groups.push_back(
        text.substr(static_cast<std::size_t>(group.rm_so), static_cast<std::size_t>(group.rm_eo - group.rm_so)));
  }
  while (match.groups.size() > compiled_->get()->re_nsub + 1) match.groups.pop_back();
  match.begin = static_cast<std::size_t>(found[0].rm_so);
  match.length = match.groups.front().size();
  return match;
}

}  // namespace debubble::shell
