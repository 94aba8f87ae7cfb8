// Lists as people type them: "1,2,3".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

// The parts between separators, blanks and all; "a,,b" has three, "" has one.
[[nodiscard]] inline std::vector<std::string> split(std::string_view text, char separator = ',') {
  std::vector<std::string> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

}  // namespace debubble
