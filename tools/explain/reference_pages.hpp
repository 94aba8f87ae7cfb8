// The pages of docs/ that the command is built with: what `explain` and `list` look up stands in their tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debubble {

[[nodiscard]] std::string error_page();  // docs/errors.md
[[nodiscard]] std::string words_page();  // docs/words.md

struct PageRow {
  std::string section;  // as its heading
  std::vector<std::string> cells;
};

// The rows of all tables in a page of Markdown.
[[nodiscard]] std::vector<PageRow> page_rows(std::string_view page);

}  // namespace debubble
