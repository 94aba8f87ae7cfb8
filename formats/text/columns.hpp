// Text measured in columns, as a terminal shows it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

// Columns that UTF-8 text without escapes takes; every character counts as one.
[[nodiscard]] std::size_t columns_of(std::string_view text);

// `text` padded with blanks to `width` columns, to the left or to the right of it.
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);

// The words of `text` in lines of at most `width` columns; a longer word is cut. Never empty.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

// `text` if it fits, else its beginning and "..".
[[nodiscard]] std::string shorten(std::string_view text, std::size_t width);

}  // namespace debubble
