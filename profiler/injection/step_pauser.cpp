#include "profiler/injection/step_pauser.hpp"

#include <algorithm>

#include "sim/core/numbers.hpp"

namespace debubble {

namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// What a step's text begins with; empty for any other range.
std::string_view step_prefix(std::string_view text) {
  for (const std::string_view prefix : {"debubble.step:", "ProfilerStep#"}) {
    if (text.starts_with(prefix) && all_digits(text.substr(prefix.size()))) return prefix;
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> StepPauser::parse(std::string_view setting) {
  if (setting.empty()) return 5;
  if (setting == "all") return 0;
  return read_whole_within(setting, 2, 1'000'000);
}

StepPauser::Change StepPauser::begin() {
  const std::int64_t step = steps_++;
  open_ = 1;
  const bool was_paused = paused_;
  paused_ = every_ > 0 && step >= 2 && step % every_ == every_ - 1;
  if (paused_ == was_paused) return Change::kNone;
  return paused_ ? Change::kPause : Change::kResume;
}

StepPauser::Change StepPauser::before_push(std::string_view text, std::uint32_t thread) {
  const std::string_view kind = step_prefix(text);
  if (thread_ == thread) {
    // Steps of one kind do not nest: the one before has ended, with a range inside that was never popped.
    if (!kind.empty() && kind == kind_) return begin();
    ++open_;
    return Change::kNone;
  }
  std::uint32_t none = 0;
  if (kind.empty() || !thread_.compare_exchange_strong(none, thread)) return Change::kNone;
  kind_ = kind;
  return begin();
}

StepPauser::Change StepPauser::after_pop(std::uint32_t thread) {
  if (thread_ != thread || --open_ > 0) return Change::kNone;
  const bool was_paused = paused_;
  paused_ = false;
  thread_ = 0;
  return was_paused ? Change::kResume : Change::kNone;
}

}  // namespace debubble
