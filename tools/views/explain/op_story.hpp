// The story of one op: when it ran, and what it waited for, step by step.
//
//     device 1  |1F0|......|1F1|          1F1 began at 4 ms; before it device 1 waited 2 ms, for
//     device 0  |0F0|..|0F1|->            the transfer of 0F1, and for 0F1 itself
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/report.hpp"
#include "sim/core/timeline.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

// One thing on the path back from an op, as far as it lies within the wait.
struct WaitedFor {
  Gate thing;
  Nanoseconds begin = 0;  // the part of it that was waited through
  Nanoseconds end = 0;
};

struct OpStory {
  std::int32_t span = -1;
  Op op;                                    // as asked for; the span may hold a partner
  Nanoseconds cost = 0;                     // what its cell takes as its stages' costs have it
  std::int32_t before = -1;                 // the span before it on its device; -1: none
  std::optional<std::int32_t> step_before;  // a step task that held the lane after that
  Nanoseconds waited = 0;                   // of the device, just before it
  NanosecondsByCause by_cause{};            // adds up to `waited`
  std::vector<WaitedFor> chain;             // backwards from the op to where the wait began
  Nanoseconds input_waited = 0;             // of its last input, for the device
  bool critical = false;                    // it lies on the critical path
};

// Throws InputError C003 for an op that the run does not have; `name` is as typed: "3F7".
[[nodiscard]] OpStory story_of(const std::string& name, const Simulated& run);

// Whether a name has the form of an op's: digits, one of F B I W R S T, digits.
[[nodiscard]] bool is_op_name(const std::string& name);

// For people, and as JSON.
[[nodiscard]] std::string op_story_text(const OpStory& story, const Simulated& run, int width);

}  // namespace debubble
