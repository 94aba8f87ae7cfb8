// The one table of error codes: `debubble explain CODE`, `debubble list error-codes` and docs/errors.md print it.
//
// A code says what went wrong and never where: a fault of JSON has one code for all kinds of files, and the place of
// the message names the file. So a new fault takes the code of its kind, and a new code is rare.
#pragma once

#include <span>
#include <string_view>

namespace debubble {

struct ErrorRow {
  std::string_view code;  // "P001"
  std::string_view meaning;
  std::string_view remedy;
};

struct ErrorFamily {
  std::string_view title;  // "files"
  std::span<const ErrorRow> rows;
};

[[nodiscard]] std::span<const ErrorFamily> error_families_of_input();      // flags, files, profiles, models
[[nodiscard]] std::span<const ErrorFamily> error_families_of_schedules();  // and their tables and clusters
[[nodiscard]] std::span<const ErrorFamily> error_families_of_runs();       // and what a machine lacks

}  // namespace debubble
