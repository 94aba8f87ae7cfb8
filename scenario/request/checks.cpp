#include "scenario/request/checks.hpp"

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

void run_all(const std::vector<std::function<void()>>& checks) {
  Checks all;
  for (const auto& check : checks) all.run(check);
  all.finish();
}

}  // namespace debubble
