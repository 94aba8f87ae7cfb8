#include "formats/text/log_lines.hpp"

#include <algorithm>
#include <cstddef>

namespace debubble {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kWrapped = "{\"log\":\"";

// What stands in a JSON string, up to its end, without its escapes; "\u001b" begins a colour.
std::string unwrapped(std::string_view line) {
  std::string text;
  for (std::size_t k = kWrapped.size(); k < line.size() && line[k] != '"'; ++k) {
    if (line[k] != '\\' || k + 1 == line.size()) {
      text += line[k];
      continue;
    }
    const char kind = line[++k];
    if (kind == 'u') {
      text += line.substr(k + 1, 4) == "001b" ? kEscape : '?';
      k += 4;
    } else if (kind != 'n' && kind != 'r') {
      text += kind == 't' ? '\t' : kind;
    }
  }
  return text;
}

// "\x1b[31m" and the like end in a letter.
std::string without_colours(std::string_view line) {
  std::string text;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (line[k] != kEscape || k + 1 == line.size() || line[k + 1] != '[') {
      text += line[k];
      continue;
    }
    k = line.find_first_not_of("0123456789;?", k + 2);
    if (k == std::string_view::npos) break;
  }
  return text;
}

}  // namespace

std::string_view LogLines::next() {
  const std::size_t end = std::min(text_.find('\n'), text_.size());
  std::string_view line = text_.substr(0, end);
  text_.remove_prefix(std::min(end + 1, text_.size()));
  if (line.starts_with(kWrapped)) {
    clean_ = unwrapped(line);
    line = clean_;
  }
  if (line.find(kEscape) != std::string_view::npos) {
    clean_ = without_colours(line);
    line = clean_;
  }
  while (!line.empty() && static_cast<unsigned char>(line.back()) <= ' ') line.remove_suffix(1);
  return line;
}

}  // namespace debubble
