// Lists of names as text: "adam sgd lion", with blanks or ends of lines between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace debubble {

// Each of them in the text's order: views into it.
[[nodiscard]] inline std::vector<std::string_view> words_in(std::string_view text) {
  constexpr const char* kBetween = " \n";
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBetween, end);
  }
  return words;
}

[[nodiscard]] inline bool is_word_in(std::string_view text, std::string_view word) {
  const std::vector<std::string_view> words = words_in(text);
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace debubble
