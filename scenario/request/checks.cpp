#include "scenario/request/checks.hpp"

#include <algorithm>
#include <utility>

namespace debubble {

void Checks::run(const std::function<void()>& check) {
  try {
    check();
  } catch (const InputError& error) {
    found_.insert(found_.end(), error.diagnostics().begin(), error.diagnostics().end());
  }
}

void Checks::finish() {
  if (!found_.empty()) throw InputError(std::move(found_));
}

bool Checks::found_at(const std::string& place) const {
  return std::any_of(found_.begin(), found_.end(), [&](const Diagnostic& one) { return one.place == place; });
}

Checks run_each(const std::vector<std::function<void()>>& checks) {
  Checks all;
  for (const auto& check : checks) all.run(check);
  return all;
}

void run_all(const std::vector<std::function<void()>>& checks) { run_each(checks).finish(); }

}  // namespace debubble
