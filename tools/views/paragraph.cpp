#include "tools/views/paragraph.hpp"

#include "formats/text/columns.hpp"

namespace debubble {

std::string page_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_') result += '\\';
    result += c;
  }
  return result;
}

std::string page_wrapped(std::string_view text, std::string_view hanging) {
  constexpr std::size_t kPageWidth = 120;
  std::string result;
  for (const std::string& line : wrap(text, kPageWidth - hanging.size())) {
    if (!result.empty()) result += hanging;
    result += line + "\n";
  }
  return result;
}

}  // namespace debubble
