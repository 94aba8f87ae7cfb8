// Arguments without a program: a list, "--name: value" lines of a recipe, or the words of a flag.
#pragma once

#include <string>
#include <vector>

namespace debubble {

[[nodiscard]] bool is_bare_list(const std::string& text);

// The list that a recipe's lines are; "" where the text is none.
[[nodiscard]] std::string recipe_list(const std::string& text);

// Whether these words give that argument, "num-layers", with hyphens or underscores.
[[nodiscard]] bool has_argument(const std::vector<std::string>& words, const std::string& name);

// Takes out what splits or routes to experts, which a model has not.
void drop_expert_arguments(std::vector<std::string>& words);

// The words that a shell makes of a text. Throws P031 where it is cut off.
[[nodiscard]] std::vector<std::string> shell_words(const std::string& text, const std::string& place);

}  // namespace debubble
