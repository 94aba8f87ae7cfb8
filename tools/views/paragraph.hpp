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

// The same behind `lead`, which takes so many columns as all further lines have blanks.
[[nodiscard]] inline std::string paragraph_after(const std::string& lead, std::string_view text, std::size_t width,
                                                 std::size_t indent) {
  std::string lines;
  for (const std::string& line : wrap(text, width - indent)) {
    lines += (lines.empty() ? lead : std::string(indent, ' ')) + line + "\n";
  }
  return lines;
}
[[nodiscard]] inline std::string paragraph_after(const std::string& lead, std::string_view text, const ViewStyle& style,
                                                 std::size_t indent) {
  return paragraph_after(lead, text, static_cast<std::size_t>(style.width), indent);
}

// Text of the pages that are made from a catalog: docs/schedules.md and docs/planners.md.

// For Markdown: "|" would end a table's cell and "<" might begin a tag; formulas hold both.
[[nodiscard]] std::string page_escaped(std::string_view text);

// In lines of at most 120 columns, each with its end; all but the first behind `hanging`.
[[nodiscard]] std::string page_wrapped(std::string_view text, std::string_view hanging);

}  // namespace debubble
