#include "tools/views/table.hpp"

#include <algorithm>
#include <utility>

#include "formats/text/printable.hpp"
#include "sim/core/split.hpp"
#include "tools/views/ansi.hpp"

namespace debubble {
namespace {

constexpr std::size_t kColumnGap = 2;
constexpr std::size_t kNarrowestWrap = 12;  // a last column is not wrapped into less than this

// Whether there are fields next to the first one.
bool says_more(const std::vector<std::string>& row) {
  return std::any_of(row.begin() + 1, row.end(), [](const std::string& field) { return !field.empty(); });
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void Table::add_row(std::vector<std::string> fields) {
  fields.resize(columns_.size());
  for (std::string& field : fields) field = printable(field);
  rows_.push_back(std::move(fields));
}

void Table::remove_column(std::size_t index) {
  const auto at = static_cast<std::ptrdiff_t>(index);
  columns_.erase(columns_.begin() + at);
  for (auto& row : rows_) row.erase(row.begin() + at);
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> result(columns_.size(), 0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    for (const std::string& line : split(columns_[i].heading, '\n')) result[i] = std::max(result[i], columns_of(line));
    for (const auto& row : rows_) result[i] = std::max(result[i], columns_of(row[i]));
  }
  return result;
}

std::size_t Table::natural_width() const {
  std::size_t sum = columns_.empty() ? 0 : kColumnGap * (columns_.size() - 1);
  for (const std::size_t width : widths()) sum += width;
  return sum;
}

Table Table::with_columns(const std::vector<std::size_t>& indices) const {
  std::vector<Column> columns;
  for (const std::size_t index : indices) columns.push_back(columns_[index]);
  Table table(std::move(columns));
  for (const auto& row : rows_) {
    std::vector<std::string> fields;
    for (const std::size_t index : indices) fields.push_back(row[index]);
    if (says_more(row) && !says_more(fields)) continue;  // all that it says is in the other columns
    table.add_row(std::move(fields));
  }
  return table;
}

std::string Table::folded(std::size_t width) const {
  std::string result;
  std::vector<std::size_t> block = {0};
  for (std::size_t i = 1; i < columns_.size(); ++i) {
    block.push_back(i);
    if (block.size() == 2 || with_columns(block).natural_width() <= width) continue;
    block.pop_back();
    result += with_columns(block).text(width);
    block = {0, i};
  }
  return result + with_columns(block).text(width);
}

std::vector<std::string> Table::layout(const std::vector<std::string>& fields, std::size_t width) const {
  const std::vector<std::size_t> sizes = widths();
  std::string line;
  for (std::size_t i = 0; i + 1 < columns_.size(); ++i) {
    line += columns_[i].side == Side::kLeft ? pad_right(fields[i], sizes[i]) : pad_left(fields[i], sizes[i]);
    line += std::string(kColumnGap, ' ');
  }
  if (columns_.back().side == Side::kRight)
    return {without_trailing_blanks(line + pad_left(fields.back(), sizes.back()))};
  const std::size_t start = columns_of(line);
  const std::size_t room = std::max(kNarrowestWrap, width - std::min(width, start));
  std::vector<std::string> lines;
  for (const std::string& part : wrap(fields.back(), room)) {
    lines.push_back(without_trailing_blanks((lines.empty() ? line : std::string(start, ' ')) + part));
  }
  return lines;
}

std::vector<std::string> Table::headings(std::size_t width) const {
  std::vector<std::vector<std::string>> parts;
  std::size_t height = 0;
  for (const Column& column : columns_) {
    parts.push_back(split(column.heading, '\n'));
    height = std::max(height, parts.back().size());
  }
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < height; ++row) {
    std::vector<std::string> fields;
    // Short headings are on the lowest line, next to their column.
    for (const auto& part : parts) {
      const std::size_t skipped = height - part.size();
      fields.push_back(row < skipped ? "" : part[row - skipped]);
    }
    for (std::string& line : layout(fields, width)) lines.push_back(std::move(line));
  }
  std::erase(lines, "");
  return lines;
}

std::vector<std::vector<std::string>> Table::rows(std::size_t width) const {
  std::vector<std::vector<std::string>> result;
  for (const auto& row : rows_) result.push_back(layout(row, width));
  return result;
}

std::string Table::text(std::size_t width, std::size_t indent) const {
  const std::size_t room = width - std::min(width, indent);
  const std::string margin(indent, ' ');
  std::string result;
  for (const std::string& line : headings(room)) result += margin + line + "\n";
  for (const auto& lines : rows(room)) {
    for (const std::string& line : lines) result += margin + line + "\n";
  }
  return result;
}

}  // namespace debubble
