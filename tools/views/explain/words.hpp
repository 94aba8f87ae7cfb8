// What the things of a timeline are called in sentences.
#pragma once

#include <string>

#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// "3F7", or "3F7 with 1B0" for an overlapped pair.
[[nodiscard]] std::string name_of(const Span& span, const Timeline& timeline);

// "forward of microbatch 7 on stage 3"; of a schedule that cuts microbatches, "... 3, slice 1 on stage 3".
[[nodiscard]] std::string meaning_of(const Op& op, const Schedule& schedule);

// "2F7 on device 2", "the transfer of 2F7 from device 2 to device 3", "all-reduce of stage 3's gradients on device 1".
[[nodiscard]] std::string in_words(const Gate& gate, const Timeline& timeline);

// "span", "transfer", "copy", "barrier", "step": the JSON's words.
[[nodiscard]] const char* to_string(Gate::Kind kind);

// When the thing began and ended; 0 and 0 for kStart.
struct Times {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};
[[nodiscard]] Times times_of(const Gate& gate, const Timeline& timeline);

// What it waited for itself.
[[nodiscard]] Gate gate_of(const Gate& gate, const Timeline& timeline);

}  // namespace debubble
