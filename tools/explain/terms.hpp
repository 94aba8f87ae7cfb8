// The words that reports print, and what they mean: the rows of docs/words.md, in this order in lists.
//
// A test runs simulate, compare, whatif and explain step, and looks up every label that they print.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/views/style.hpp"

namespace debubble {

struct Term {
  std::string name;     // as reports print it: "peak memory"
  std::string aliases;  // other names of the same thing, separated by ", "
  std::string meaning;
  std::string formula;
  std::string see;  // where there is more: "docs/memory.md"
};

[[nodiscard]] std::span<const Term> terms();

// By name or alias, in whatever case; blanks, hyphens and underscores are alike, and a unit at the end says nothing.
// Null where there is none.
[[nodiscard]] const Term* find_term(std::string_view word);

// All names and aliases, for hints.
[[nodiscard]] std::vector<std::string> term_names();
[[nodiscard]] std::vector<std::string> aliases_of(const Term& term);

//     bubble
//       means    time in which devices wait, as a share
//       formula  bubble_ratio = idle / (devices x step time)
[[nodiscard]] std::string term_text(const Term& term, const ViewStyle& style);

}  // namespace debubble
