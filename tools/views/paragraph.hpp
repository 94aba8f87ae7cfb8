// Text that is as wide as the terminal.
#pragma once

#include <cstddef>
#include <string>

#include "formats/text/columns.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// Wrapped to the width, every line ended.
[[nodiscard]] inline std::string paragraph(const std::string& text, const ViewStyle& style) {
  std::string lines;
  for (const std::string& line : wrap(text, static_cast<std::size_t>(style.width))) lines += line + "\n";
  return lines;
}

}  // namespace debubble
