// What a prediction of a measured run knew, and what each level of knowledge predicts for a run's own steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/analysis/comparison.hpp"
#include "sim/core/run_record.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

//     replay     the durations of the same step's ops and transfers: tests order and dependencies
//     medians    the medians of the other steps of the run: what a prediction from a profile can reach
//     timers     of a training log: the last stage's, medians of the other lines, taken for every stage. The bubble is
//                the last stage's idle share: a log says nothing of the others
//     forecast   stage times that were measured apart from the run, or modelled: what a user gets before it
enum class BubbleLevel : std::uint8_t { kReplay, kMedians, kTimers, kForecast };
inline constexpr std::array kLevels{BubbleLevel::kReplay, BubbleLevel::kMedians, BubbleLevel::kTimers,
                                    BubbleLevel::kForecast};
[[nodiscard]] const char* to_string(BubbleLevel level);  // "replay", "medians", "timers", "forecast"

struct BubbleAndStep {
  double bubble = 0;  // idle share of the step, over all devices
  double step = 0;    // ns
};

[[nodiscard]] BubbleAndStep measured_step(const RunRecord& run, std::size_t iteration);

// With the measured durations of ops and transfers put in, and nothing else.
[[nodiscard]] BubbleAndStep replayed_step(const Timeline& measured, const Comparison& compared);
// `predicted` is any simulation of the run: the order of its ops and what they wait for are replayed with the durations
// of `iteration`. Throws what compare throws.
[[nodiscard]] BubbleAndStep replayed_step(const RunRecord& run, std::size_t iteration, const Simulated& predicted);

// The run with the medians of all iterations but one for costs, and without iterations. It needs two of them.
[[nodiscard]] RunRecord with_medians_of_others(const RunRecord& run, std::size_t iteration);

}  // namespace debubble
