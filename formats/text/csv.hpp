// Cells of CSV that hold somebody's text.
#pragma once

#include <string>
#include <string_view>

namespace debubble {

// As RFC 4180 has it, on one line whatever the text holds (printable.hpp): in quotes where it has a comma or a quote,
// or `always`.
[[nodiscard]] std::string csv_cell(std::string_view text, bool always = false);

}  // namespace debubble
