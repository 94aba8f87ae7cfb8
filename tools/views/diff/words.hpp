// A comparison in plain words: one sentence per part, the same in text and JSON.
#pragma once

#include <cstddef>
#include <string>

#include "sim/analysis/comparison.hpp"
#include "studies/diff/diff.hpp"
#include "studies/diff/log_diff.hpp"
#include "studies/diff/tolerance.hpp"

namespace debubble {

// "F of stage 2 takes 1.300 ms on average, predicted 1.000 ms (8 ops on device 2)"
[[nodiscard]] std::string part_words(const GapPart& part);

// "device 2 begins 2F3 400.0 us after all it waits for, at 12.40 ms"
[[nodiscard]] std::string divergence_words(const Divergence& divergence);

// "step: measured and predicted differ by 7.3 %, more than 5.0 %"
[[nodiscard]] std::string excess_words(const Excess& excess, const Diff& diff);

// What a level's prediction was made from: "medians of the other 2 steps"
[[nodiscard]] std::string level_words(BubbleLevel level, const Diff& diff);

// The level of the prediction that is shown: "medians of all 3 steps, the compared one among them"
[[nodiscard]] std::string basis_words(const Diff& diff);

// "transfers from device 2 to 3 take 3.10 times as long as those of the other links (3.100 ms against 1.000 ms), in 5
// of 5 steps"
[[nodiscard]] std::string slow_link_words(const LinkDurations& link, std::size_t iterations);
[[nodiscard]] std::string excess_words(const Excess& excess, const LogDiff& diff);

// "+58.60 ms", "-1.2 us", "0 ns"
[[nodiscard]] std::string format_gap(Nanoseconds gap);
// "+1.25 GiB", "0 B"
[[nodiscard]] std::string format_size_gap(Bytes gap);
// "+7.3 %"; "" of none, and of a gap from nothing.
[[nodiscard]] std::string format_relative_gap(std::int64_t gap, std::int64_t predicted);

}  // namespace debubble
