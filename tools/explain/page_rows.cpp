#include "sim/core/split.hpp"
#include "tools/explain/reference_pages.hpp"

namespace debubble {
namespace {

// "| P004 | a number | say \| |": a backslash stands before a sign that Markdown would take for its own.
std::vector<std::string> page_cells(std::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t at = 1; at < line.size(); ++at) {
    if (line[at] == '\\' && at + 1 < line.size()) {
      cell += line[++at];
    } else if (line[at] != '|') {
      cell += line[at];
    } else {
      const std::size_t begin = cell.find_first_not_of(' ');
      cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
      cell.clear();
    }
  }
  return cells;
}

}  // namespace

std::vector<PageRow> page_rows(std::string_view page) {
  std::vector<PageRow> rows;
  std::string section;
  bool in_table = false;
  for (const std::string& line : split(page, '\n')) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (in_table && line.starts_with('|')) rows.push_back({section, page_cells(line)});
    in_table = line.starts_with("|---") || (in_table && line.starts_with('|'));
  }
  return rows;
}

}  // namespace debubble
