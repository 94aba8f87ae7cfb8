// How far predicted bubbles and step times are from measured ones, by what the prediction knew.
//
//     replay     the durations of the same step's ops and transfers: tests order and dependencies
//     medians    the medians of the other steps of the run: what a prediction from a profile can reach
//     timers     of a training log: the last stage's, medians of the other lines, taken for every stage. The bubble is
//                the last stage's idle share: a log says nothing of the others
//     forecast   stage times that were measured apart from the run: what a user gets before it
//
// Errors are predicted - measured for bubbles, in points of the step, and predicted / measured - 1 for the step. They
// are counted by run, not by step: of a recording both sides are the means over its steps.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "scenario/job/progress.hpp"
#include "studies/accuracy/measured_list.hpp"

namespace debubble {

enum class BubbleLevel { kReplay, kMedians, kTimers, kForecast };
inline constexpr std::array kLevels{BubbleLevel::kReplay, BubbleLevel::kMedians, BubbleLevel::kTimers,
                                    BubbleLevel::kForecast};
[[nodiscard]] const char* to_string(BubbleLevel level);  // "replay", "medians", ...

struct BubbleAndStep {
  double bubble = 0;  // idle share of the step, over all devices
  double step = 0;    // ns
};

struct JudgedRun {
  const MeasuredRow* row = nullptr;
  std::string schedule;
  int devices = 0;
  int microbatches = 0;
  std::size_t steps = 0;  // of the recording, or lines of the log; 0: only the mean step is known
  double ideal = 0;       // the bubble of this order with equal stages, a backward twice a forward, and no transfers
  BubbleAndStep measured;
  std::array<std::optional<BubbleAndStep>, kLevels.size()> predicted;  // by level

  [[nodiscard]] double bubble_error(BubbleLevel level) const;
  [[nodiscard]] double step_error(BubbleLevel level) const;
};

struct LevelSummary {
  std::size_t runs = 0;
  double bubble_mean_absolute = 0, bubble_bias = 0, bubble_worst = 0;
  double step_mean_absolute = 0, step_bias = 0, step_worst = 0;
  std::string bubble_worst_id, step_worst_id;
};

// Throws InputError: what open_run throws, D009 for a run whose order deadlocks, and of a log what read_logged_run
// throws, and P016 where it has no timers.
[[nodiscard]] std::vector<JudgedRun> judge_bubbles(const MeasuredList& list, Progress& progress);

// Of the runs that have this level; without runs all is 0.
[[nodiscard]] LevelSummary summary_of(const std::vector<JudgedRun>& runs, BubbleLevel level);

}  // namespace debubble
