// The table of a comparison, as wide as the text: names are cut and columns left out where it would be wider.
#pragma once

#include <string>
#include <vector>

#include "tools/views/compare_rows.hpp"

namespace debubble {

struct CompareLines {
  std::vector<std::string> headings;
  std::vector<std::string> rows;  // one for each row
};

// `best` may be null.
[[nodiscard]] CompareLines compare_lines(const std::vector<CompareRow>& rows, const CompareRow* best,
                                         const ViewStyle& style);

}  // namespace debubble
