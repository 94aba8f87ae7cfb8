// What a tree may cost while it is made. Internal to text_trees.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "formats/frameworks/text_trees.hpp"
#include "formats/text/text.hpp"

namespace debubble {

// Whether the text is UTF-8; complains where it is not.
[[nodiscard]] inline bool is_utf8(std::string_view text, ProblemList& problems) {
  const auto bad = first_bad_utf8(text);
  if (bad) problems.add("P002", place_of(problems.name(), text, *bad), "not UTF-8 text", "save it as UTF-8");
  return !bad;
}

// Whether a parser may see it: the time and the memory that it takes grow with the text.
[[nodiscard]] inline bool is_short(std::string_view text, const std::string& language, ProblemList& problems) {
  const bool holds = text.size() <= std::size_t{4} << 20;
  if (!holds)
    problems.add("P017", problems.name(), "more than 4 MiB of " + language, "give the configuration of one run");
  return holds;
}

class TreeBudget {
 public:
  explicit TreeBudget(ProblemList& problems) : problems_(problems) {}

  // Whether there is room for one more value that lies so deep; complains once where there is none.
  [[nodiscard]] bool take(std::size_t depth, const std::string& pointer) {
    if (depth > kDeepestNesting) {
      return refuse("P018", pointer, "nested more than " + std::to_string(kDeepestNesting) + " deep",
                    "no configuration is so deep");
    }
    if (++values_ <= problems_.dialect().most_values) return true;
    return refuse("P017", pointer, "more than " + std::to_string(problems_.dialect().most_values) + " values",
                  "give the configuration of one run");
  }

  [[nodiscard]] bool refuse(const char* code, const std::string& pointer, std::string message, std::string help) {
    if (!refused_) problems_.add_at_pointer(code, pointer, std::move(message), std::move(help));
    refused_ = true;
    return false;
  }

  [[nodiscard]] bool refused() const { return refused_; }

 private:
  ProblemList& problems_;
  std::size_t values_ = 0;
  bool refused_ = false;
};

}  // namespace debubble
