// Text of the pages that are made from a catalog: docs/schedules.md and docs/planners.md.
#pragma once

#include <string>
#include <string_view>

namespace debubble {

// For Markdown: "|" would end a table's cell and "<" might begin a tag; formulas hold both.
[[nodiscard]] std::string page_escaped(std::string_view text);

// In lines of at most 120 columns, each with its end; all but the first behind `hanging`.
[[nodiscard]] std::string page_wrapped(std::string_view text, std::string_view hanging);

}  // namespace debubble
