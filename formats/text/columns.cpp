#include "formats/text/columns.hpp"
#include "formats/text/printable.hpp"

#include <algorithm>

namespace debubble {
namespace {

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// Bytes that the first `columns` characters take.
std::size_t bytes_of_columns(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (starts_character(text[at]) && columns-- == 0) break;
    ++at;
  }
  return at;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string pad_right(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(width - std::min(width, columns_of(text)), ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, columns_of(text)), ' ') + std::string(text);
}

std::vector<std::string> wrap(std::string_view quoted, std::size_t width) {
  const std::string text = printable(quoted);
  width = std::max<std::size_t>(1, width);
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    std::string_view word = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    if (!lines.back().empty()) {
      if (columns_of(lines.back()) + 1 + columns_of(word) <= width) {
        lines.back() += " " + std::string(word);
        continue;
      }
      lines.emplace_back();
    }
    for (; columns_of(word) > width; word.remove_prefix(bytes_of_columns(word, width))) {
      lines.back() = word.substr(0, bytes_of_columns(word, width));
      lines.emplace_back();
    }
    lines.back() = word;
  }
  return lines;
}

std::string shorten(std::string_view text, std::size_t width) {
  if (columns_of(text) <= width) return std::string(text);
  if (width <= 2) return std::string(text.substr(0, bytes_of_columns(text, width)));
  return std::string(text.substr(0, bytes_of_columns(text, width - 2))) + "..";
}

}  // namespace debubble
