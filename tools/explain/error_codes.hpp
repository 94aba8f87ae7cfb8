// What an error code means: the table of docs/errors.md, which the build takes in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

struct ErrorCode {
  std::string code;     // "X010"
  std::string area;     // "the run"
  std::string meaning;  // "a finding: the schedule deadlocks"
};

[[nodiscard]] const std::vector<ErrorCode>& error_codes();

// A letter and three digits.
[[nodiscard]] bool is_error_code(std::string_view name);
[[nodiscard]] std::optional<ErrorCode> find_error_code(std::string_view code);

// docs/errors.md as it was when this was built (tools/explain/error_table.cpp.in).
[[nodiscard]] std::string_view error_table();

}  // namespace debubble
