#include "tools/explain/error_codes.hpp"

#include <algorithm>

#include "tools/explain/error_table.hpp"

namespace debubble {
namespace {

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

// "| X010 | a finding: the schedule deadlocks |", or a heading, "| **X** | **the run** |".
std::vector<ErrorCode> parse_table() {
  std::vector<ErrorCode> codes;
  for (const auto families : {error_families_of_input(), error_families_of_schedules(), error_families_of_runs()}) {
    for (const ErrorFamily& family : families) {
      for (const ErrorRow& row : family.rows) {
        codes.push_back({row.code, family.title, row.meaning, row.remedy, words(row.former)});
      }
    }
  }
  return codes;
}

}  // namespace

const std::vector<ErrorCode>& error_codes() {
  static const std::vector<ErrorCode> codes = parse_table();
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
  for (const ErrorCode& one : error_codes()) {
    if (std::find(one.former.begin(), one.former.end(), code) != one.former.end()) return one;
  }
  return std::nullopt;
}

}  // namespace debubble
