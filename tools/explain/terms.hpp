// The words that reports print, and what they mean: one row each, in this order in lists.
//
//     {.name = "bubble", .aliases = "bubble_ratio, bubble_over_ideal", .meaning = "...", .formula = "idle / (...)"}
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
  std::string_view name;          // as reports print it: "peak memory"
  std::string_view aliases = {};  // other names of the same thing, separated by ", "
  std::string_view meaning;
  std::string_view formula = {};
  std::string_view see = {};  // where there is more: "docs/memory.md"
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
