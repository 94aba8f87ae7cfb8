#include "formats/problems/problem_list.hpp"

#include <utility>

namespace debubble {

const JsonDialect& profile_dialect() {
  static constexpr JsonDialect kDialect{
      .what = "profile",
      .description = "docs/profile.schema.json",
  };
  return kDialect;
}

void ProblemList::add(std::string code, std::string place, std::string message, std::string help) {
  if (problems_.size() >= kMostProblems) {
    ++omitted_;
    return;
  }
  problems_.push_back({std::move(code), std::move(place), std::move(message), std::move(help)});
}

void ProblemList::add_at_pointer(std::string code, std::string_view pointer, std::string message, std::string help) {
  add(std::move(code), name_ + "#" + std::string(pointer), std::move(message), std::move(help));
}

void ProblemList::throw_if_any() const {
  if (problems_.empty()) return;
  std::vector<Diagnostic> all = problems_;
  if (omitted_ > 0) {
    all.push_back({"P022", name_, "and " + std::to_string(omitted_) + " more problems like these",
                   "fix the first ones and run again"});
  }
  throw InputError(std::move(all));
}

}  // namespace debubble
