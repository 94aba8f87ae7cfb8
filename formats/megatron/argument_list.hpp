// Arguments without a program: a list, or "--name: value" lines of a recipe.
#pragma once

#include <string>

namespace debubble {

[[nodiscard]] bool is_bare_list(const std::string& text);

// The list that a recipe's lines are; "" where the text is none.
[[nodiscard]] std::string recipe_list(const std::string& text);

}  // namespace debubble
