// Text that is as wide as the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "formats/text/columns.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// Wrapped to the width, every line behind so many blanks and ended.
[[nodiscard]] inline std::string paragraph(const std::string& text, const ViewStyle& style, std::size_t indent = 0) {
  std::string lines;
  for (const std::string& line : wrap(text, static_cast<std::size_t>(style.width) - indent)) {
    lines += std::string(indent, ' ') + line + "\n";
  }
  return lines;
}

// Text of the pages that are made from a catalog: docs/schedules.md and docs/planners.md.

// For Markdown: "|" would end a table's cell and "<" might begin a tag; formulas hold both.
[[nodiscard]] std::string page_escaped(std::string_view text);

// In lines of at most 120 columns, each with its end; all but the first behind `hanging`.
[[nodiscard]] std::string page_wrapped(std::string_view text, std::string_view hanging);

}  // namespace debubble
