// Medians over repetitions, and how far a median may be off by chance.
//
//     errors of 12 repetitions        .  . :.:: .   .
//     interval of their median           [--|-]            tolerance  |-----------|
//
// The interval is the percentile bootstrap: the errors are drawn anew, with replacement, thousands of times, and the
// medians' middle 95 % are kept. The draws come from a fixed seed, so the same run files give the same verdict
// anywhere.
//
// Costs that were calibrated have an error of their own, which all repetitions after one calibration share: however
// many there are, they cannot show it. So such a run is calibrated and measured several times over, and each draw takes
// whole groups first, then repetitions of each:
//
//     calibrated  run run run     errors  .:.                      group medians   |
//     calibrated  run run run               ::.                                      |
//     calibrated  run run run                  .:                  interval        [----]
#pragma once

#include <span>
#include <vector>

#include "studies/check/result.hpp"

namespace debubble {

// The middle value, of an even number the mean of the middle two. `values` must not be empty.
[[nodiscard]] double median(std::span<const double> values);

// Of one value the interval is the value; of fewer than five it reaches from the least to the largest.
[[nodiscard]] ErrorEstimate estimate(std::span<const double> errors);

// Of groups, none of them empty: the median is that of the groups' medians, each counting once. The interval of few
// groups holds all of these medians, for that is what the 95 % take: by the sign test the range of six covers the true
// one in 97 of 100 cases (of five in 94, of four in 88). One group is as above.
[[nodiscard]] ErrorEstimate estimate(std::span<const std::vector<double>> groups);

// Fails when the whole interval is outside the tolerance, on either side; warns when the median is.
[[nodiscard]] Verdict judge(const ErrorEstimate& error, double tolerance);

// Below this an interval says little.
inline constexpr int kFewRepetitions = 5;

}  // namespace debubble
