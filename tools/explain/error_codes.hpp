// What an error code means and what to do about it: the rows of docs/errors.md, to look up.
//
// A code says what went wrong and never where: a fault of JSON has one code for all kinds of files, and the place of
// the message names the file. So a new fault takes the code of its kind, and a new code is rare.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/views/style.hpp"

namespace debubble {

struct ErrorCode {
  std::string code;     // "X010"
  std::string family;   // "the simulation"
  std::string meaning;  // "a finding: the schedule deadlocks (status 1)"
  std::string remedy;   // "change the order of ..."
};

// Family by family, in order within a family.
[[nodiscard]] const std::vector<ErrorCode>& error_codes();

// A letter and three digits.
[[nodiscard]] bool is_error_code(std::string_view name);

[[nodiscard]] std::optional<ErrorCode> find_error_code(std::string_view code);

// "X010  the simulation", then the meaning and what to do, indented by 6.
[[nodiscard]] std::string error_code_text(const ErrorCode& code, const ViewStyle& style);

}  // namespace debubble
