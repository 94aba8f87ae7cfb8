// A table of whole numbers as bytes, column by column, for the data of an HTML page (tools/report/README.md).
//
// A number is zigzag LEB128: 0 is 1 byte, as are all from -64 to 63; a difference that repeats is a repeated byte, of
// which deflate makes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/json/json.hpp"

namespace debubble {

// What a column's numbers are.
enum class ColumnOf { kValues, kDifferences };  // differences: each to the row before, the first to 0

void append_zigzag(std::string& bytes, std::int64_t value);

// Tables and documents are put behind one another into the same bytes; the header says where each is.
class TableWriter {
 public:
  TableWriter(std::string& bytes, std::size_t rows);

  // `value(row)` gives the number of a row.
  template <typename Value>
  void add(std::string_view name, const Value& value, ColumnOf what = ColumnOf::kValues) {
    const std::size_t offset = bytes_.size();
    std::int64_t last = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      const auto number = static_cast<std::int64_t>(value(row));
      append_zigzag(bytes_, number - last);
      if (what == ColumnOf::kDifferences) last = number;
    }
    enter(name, offset, what);
  }
  // {"rows": 3, "columns": {"begin": {"offset": 0, "bytes": 5, "delta": true}, ...}}
  [[nodiscard]] Json header() const;

 private:
  void enter(std::string_view name, std::size_t offset, ColumnOf what);

  std::string& bytes_;
  std::size_t rows_;
  Json columns_ = Json::object();
};

}  // namespace debubble
