#include "tools/explain/error_codes.hpp"

#include <algorithm>
#include <sstream>

namespace debubble {
namespace {

std::string without(std::string text, std::string_view marks) {
  std::erase_if(text, [&](char c) { return marks.find(c) != std::string_view::npos; });
  return text;
}

// "| X010 | a finding: the schedule deadlocks |", or a heading, "| **X** | **the run** |".
std::vector<ErrorCode> parse_table() {
  std::vector<ErrorCode> codes;
  std::istringstream lines{std::string(error_table())};
  std::string area;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t middle = line.find(" | ");
    if (!line.starts_with("| ") || !line.ends_with(" |") || middle == std::string::npos) continue;
    const std::string code = line.substr(2, middle - 2);
    const std::string text = line.substr(middle + 3, line.size() - middle - 5);
    if (code.starts_with("**")) {
      area = without(text, "*");
    } else if (is_error_code(code)) {
      codes.push_back({code, area, without(text, "`")});
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
  return std::nullopt;
}

}  // namespace debubble
