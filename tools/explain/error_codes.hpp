// What an error code means and what to do about it: the rows of error_table.hpp, to look up.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace debubble {

struct ErrorCode {
  std::string_view code;     // "X010"
  std::string_view family;   // "the simulation"
  std::string_view meaning;  // "a finding: the schedule deadlocks (status 1)"
  std::string_view remedy;   // "change the order of ..."
};

// Family by family, in order within a family.
[[nodiscard]] const std::vector<ErrorCode>& error_codes();

// A letter and three digits.
[[nodiscard]] bool is_error_code(std::string_view name);

[[nodiscard]] std::optional<ErrorCode> find_error_code(std::string_view code);

}  // namespace debubble
