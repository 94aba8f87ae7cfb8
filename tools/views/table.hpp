// Table: aligned columns of plain text.
//
//     schedule     step   bubble  needs
//     gpipe       33.00   27.3 %
//     zb-h1       27.00   11.1 %  splits the backward into input and
//                                 weight gradient
//
// Columns are two blanks apart, headings and numbers on the side that the column says; the last column, when it is
// a left one, is wrapped at the width. Without headings, leave them all empty.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace debubble {

class Table {
 public:
  enum class Side { kLeft, kRight };
  struct Column {
    std::string heading;  // may have several lines, joined by '\n'
    Side side = Side::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One field per column; missing ones are empty. They may quote names of unknown origin (printable.hpp).
  void add_row(std::vector<std::string> fields);

  // Counted from 0.
  void remove_column(std::size_t index);

  // Columns that the table takes when nothing is wrapped.
  [[nodiscard]] std::size_t natural_width() const;

  // Heading lines and rows, as lines without line end or trailing blanks. `width` bounds only the last column.
  [[nodiscard]] std::vector<std::string> headings(std::size_t width) const;
  [[nodiscard]] std::vector<std::vector<std::string>> rows(std::size_t width) const;  // one row: one or more lines

  // As text, in as few tables one below the other as the width asks for; the first column comes first in each. For
  // tables whose columns cannot be wrapped.
  [[nodiscard]] std::string folded(std::size_t width) const;

  // Everything as text, each line after `indent` blanks and within `width` columns, as far as wrapping can make it so.
  [[nodiscard]] std::string text(std::size_t width, std::size_t indent = 0) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;
  [[nodiscard]] Table with_columns(const std::vector<std::size_t>& indices) const;
  [[nodiscard]] std::vector<std::string> layout(const std::vector<std::string>& fields, std::size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace debubble
