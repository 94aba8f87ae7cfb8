#include "tools/views/html/columns.hpp"

namespace debubble {

void append_zigzag(std::string& bytes, std::int64_t value) {
  constexpr unsigned kBits = 7;
  constexpr std::uint64_t kMore = 1U << kBits;
  std::uint64_t rest = (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
  for (; rest >= kMore; rest >>= kBits) bytes.push_back(static_cast<char>(rest % kMore + kMore));
  bytes.push_back(static_cast<char>(rest));
}

TableWriter::TableWriter(std::string& bytes, std::size_t rows) : bytes_(bytes), rows_(rows) {}

void TableWriter::enter(std::string_view name, std::size_t offset, ColumnOf what) {
  columns_[name] =
      Json{{"offset", offset}, {"bytes", bytes_.size() - offset}, {"delta", what == ColumnOf::kDifferences}};
}

Json TableWriter::header() const { return Json{{"rows", rows_}, {"columns", columns_}}; }

}  // namespace debubble
