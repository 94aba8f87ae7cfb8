// Chooses the training steps that run unrecorded, to measure what recording costs, at least: CUPTI stays attached.
//
//     step      0  1  2  3  4  5  6  7  8  9 ...        DEBUBBLE_RECORD_STEPS   5 (or unset): every 5th
//     recorded  *  *  *  *  .  *  *  *  *  .                                    all: none is left out
//
// A step is a range "debubble.step:N" or "ProfilerStep#N" that is in no other one. The first two are always recorded.
// A step ends with its range, or where the next one of its kind begins on its thread: programs leak ranges.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

namespace debubble {

class StepPauser {
 public:
  explicit StepPauser(std::int64_t every) : every_(every) {}

  // What DEBUBBLE_RECORD_STEPS means: 0 for "all"; empty when it is neither that nor a number from 2 to 1000000.
  [[nodiscard]] static std::optional<std::int64_t> parse(std::string_view setting);

  enum class Change { kNone, kPause, kResume };
  // Before a range is pushed and after one is popped, on any thread.
  Change before_push(std::string_view text, std::uint32_t thread);
  Change after_pop(std::uint32_t thread);

 private:
  Change begin();

  const std::int64_t every_;
  std::atomic<std::uint32_t> thread_ = 0;  // of the step that runs; 0: none. The rest belongs to this thread.
  std::int64_t open_ = 0;                  // ranges of that thread since it began, itself included
  std::string_view kind_;                  // what its text begins with
  std::int64_t steps_ = 0;
  bool paused_ = false;
};

}  // namespace debubble
