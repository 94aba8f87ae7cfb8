// Steps: the training steps of one stream, and what happened around them.
//
//     step        |   0   |   1   |   2   |   3   |
//     recording   on ------------- off --- on -----
//     loading     ##                                 compiler, module loading, sizes counted
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/attribution/instances.hpp"
#include "profiler/records/record.hpp"
#include "sim/core/units.hpp"

namespace debubble::attribution {

struct Step {
  Nanoseconds begin = 0;
  std::optional<Nanoseconds> end;  // absent: never popped
};

class Steps {
 public:
  static constexpr std::size_t kMostSteps = std::size_t{1} << 20;  // further ones belong to the last
  static constexpr std::size_t kMostMarks = std::size_t{1} << 16;  // of each kind that are remembered

  // Returns the step's index; kNoStep inside of an open step, whose part it is: debubble.step:N in ProfilerStep#N.
  std::int32_t begin(Nanoseconds time);
  void end(std::int32_t step, Nanoseconds time);
  // The step that is open now, kNoStep between steps.
  [[nodiscard]] std::int32_t current() const { return current_; }

  void on(const SwitchRecord& record);
  void on(const OverheadRecord& record);

  [[nodiscard]] const std::vector<Step>& all() const { return steps_; }
  // Sorts what came out of order; before the three questions below.
  void settle();
  // Whether GPU records were taken all the time, or at no time, between the two.
  [[nodiscard]] bool recorded(Nanoseconds begin, Nanoseconds end) const;
  [[nodiscard]] bool unrecorded(Nanoseconds begin, Nanoseconds end) const;
  // Whether code was compiled or loaded, or sizes were counted, between the two.
  [[nodiscard]] bool loading(Nanoseconds begin, Nanoseconds end) const;

 private:
  struct Span {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
  };
  [[nodiscard]] static std::vector<Span>::const_iterator first_ending(const std::vector<Span>& spans, Nanoseconds time);

  std::vector<Step> steps_;
  std::int32_t current_ = kNoStep;
  std::vector<SwitchRecord> switches_;
  std::vector<Span> loads_;
  std::vector<Span> pauses_;  // from `settle`
};

}  // namespace debubble::attribution
