// Checks of flags that do not depend on each other: what all of them find is thrown together, so that a person fixes
// everything at once.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble {

class Checks {
 public:
  // Runs it at once and keeps what it throws, if that is an InputError.
  void run(const std::function<void()>& check);
  void add(Diagnostic problem) { found_.push_back(std::move(problem)); }

  [[nodiscard]] bool found_none() const { return found_.empty(); }
  [[nodiscard]] bool found_at(const std::string& place) const;
  // Throws InputError with all that was found, or returns when there was nothing.
  void finish();

 private:
  std::vector<Diagnostic> found_;
};

// Runs every one of them and keeps what they found.
[[nodiscard]] Checks run_each(const std::vector<std::function<void()>>& checks);
// Runs every one of them and throws what they found.
void run_all(const std::vector<std::function<void()>>& checks);

}  // namespace debubble
