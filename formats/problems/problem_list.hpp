// ProblemList: everything wrong with one file, collected by its reader and thrown together.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/problems/json_dialect.hpp"
#include "sim/core/error.hpp"

namespace debubble {

// A file with more problems than this is wrong as a whole; more lines would hide the first ones.
inline constexpr std::size_t kMostProblems = 100;

class ProblemList {
 public:
  // A note P022 replaces the problems beyond kMostProblems. `dialect` gives the JSON readers their words for the file;
  // it must outlive the list.
  explicit ProblemList(std::string name, const JsonDialect& dialect = profile_dialect())
      : name_(std::move(name)), dialect_(&dialect) {}

  void add(std::string code, std::string place, std::string message, std::string help);
  // The place is `name#pointer`.
  void add_at_pointer(std::string code, std::string_view pointer, std::string message, std::string help);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const JsonDialect& dialect() const { return *dialect_; }
  [[nodiscard]] bool empty() const { return problems_.empty(); }
  // Throws InputError with all problems, or returns when there is none.
  void throw_if_any() const;

 private:
  std::string name_;
  const JsonDialect* dialect_;
  std::vector<Diagnostic> problems_;
  std::size_t omitted_ = 0;
};

}  // namespace debubble
