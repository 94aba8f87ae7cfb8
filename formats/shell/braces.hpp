// {a,b} and {1..8} in words.
#pragma once

#include <vector>

#include "formats/shell/syntax.hpp"

namespace debubble::shell {

// The words that a word with braces stands for; itself where it has none. At most 10,000.
[[nodiscard]] std::vector<Word> with_braces(const Word& word);

}  // namespace debubble::shell
