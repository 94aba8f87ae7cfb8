#include "profiler/injection/step_pauser.hpp"

#include <algorithm>
#include <charconv>

namespace debubble {

namespace {

bool is_step(std::string_view text) {
  for (const std::string_view prefix : {"debubble.step:", "ProfilerStep#"}) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view number = text.substr(prefix.size());
    return !number.empty() && std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  }
  return false;
}

}  // namespace

std::optional<std::int64_t> StepPauser::parse(std::string_view setting) {
  if (setting.empty()) return 5;
  if (setting == "all") return 0;
  std::int64_t every = 0;
  const auto [end, error] = std::from_chars(setting.data(), setting.data() + setting.size(), every);
  const bool whole = error == std::errc{} && end == setting.data() + setting.size();
  if (!whole || every < 2 || every > 1'000'000) return std::nullopt;
  return every;
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
  const bool mine = thread_ == thread;
  if (!is_step(text)) {
    if (mine) ++open_;
    return Change::kNone;
  }
  std::uint32_t none = 0;
  if (mine || !thread_.compare_exchange_strong(none, thread)) {
    if (mine) ++open_;  // a step inside of a step
    return Change::kNone;
  }
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
