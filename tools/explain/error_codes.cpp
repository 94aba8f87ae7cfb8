#include "tools/explain/error_codes.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/words.hpp"
#include "tools/explain/reference_pages.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/paragraph.hpp"

namespace debubble {
namespace {

// The page's headings begin with a capital. Its last table is of something else.
std::vector<ErrorCode> all_error_rows() {
  std::vector<ErrorCode> codes;
  for (PageRow& row : page_rows(error_page())) {
    if (!is_error_code(row.cells[0])) continue;
    row.section[0] = lower_case(row.section[0]);
    codes.push_back({row.cells[0], std::move(row.section), std::move(row.cells[1]), std::move(row.cells[2])});
  }
  return codes;
}

// Marks of Markdown are for the page alone.
std::string without_markup(std::string text) {
  std::erase(text, '`');
  return text;
}

}  // namespace

const std::vector<ErrorCode>& error_codes() {
  static const std::vector<ErrorCode> codes = all_error_rows();
  return codes;
}

bool is_error_code(std::string_view name) {
  return name.size() == 4 && name[0] >= 'A' && name[0] <= 'Z' &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<ErrorCode> find_error_code(std::string_view code) {
  for (const ErrorCode& one : error_codes()) {
    if (one.code == code) return one;
  }
  return std::nullopt;
}

std::string error_code_text(const ErrorCode& code, const ViewStyle& style) {
  std::string text = paint(style.color, kBold, code.code) + "  " + code.family + "\n";
  for (const std::string& part : {code.meaning, "what to do: " + code.remedy}) {
    text += paragraph(without_markup(part), style, 6);
  }
  return text;
}

}  // namespace debubble
