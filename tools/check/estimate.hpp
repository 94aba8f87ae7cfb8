// Medians over repetitions, and how far a median may be off by chance.
//
//     errors of 12 repetitions        .  . :.:: .   .
//     interval of their median           [--|-]            tolerance  |-----------|
//
// The interval is the percentile bootstrap: the errors are drawn anew, with replacement, thousands of times, and the
// medians' middle 95 % are kept. The draws come from a fixed seed, so the same run files give the same verdict
// anywhere.
#pragma once

#include <span>

#include "tools/check/result.hpp"

namespace debubble {

// The middle value, of an even number the mean of the middle two. `values` must not be empty.
[[nodiscard]] double median(std::span<const double> values);

// Of one value the interval is the value; of fewer than five it reaches from the least to the largest.
[[nodiscard]] ErrorEstimate estimate(std::span<const double> errors);

// Fails when the whole interval is outside the tolerance, on either side; warns when the median is.
[[nodiscard]] Verdict judge(const ErrorEstimate& error, double tolerance);

// Below this an interval says little.
inline constexpr int kFewRepetitions = 5;

}  // namespace debubble
