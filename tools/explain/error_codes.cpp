#include "tools/explain/error_codes.hpp"

#include <algorithm>

#include "tools/explain/error_table.hpp"

namespace debubble {
namespace {

std::vector<ErrorCode> error_rows() {
  std::vector<ErrorCode> codes;
  for (const auto families : {error_families_of_input(), error_families_of_schedules(), error_families_of_runs()}) {
    for (const ErrorFamily& family : families) {
      for (const ErrorRow& row : family.rows) {
        codes.push_back({row.code, family.title, row.meaning, row.remedy});
      }
    }
  }
  return codes;
}

}  // namespace

const std::vector<ErrorCode>& error_codes() {
  static const std::vector<ErrorCode> codes = error_rows();
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

}  // namespace debubble
