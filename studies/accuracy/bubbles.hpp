// How far predicted bubbles and step times are from measured ones, by what the prediction knew
// (studies/runs/levels.hpp).
//
// Errors are predicted - measured for bubbles, in points of the step, and predicted / measured - 1 for the step. They
// are counted by run, not by step: of a recording both sides are the means over its steps. Of a run that is told by a
// scenario only the step was measured, training step included; it counts among the steps, not among the bubbles.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "scenario/job/progress.hpp"
#include "studies/accuracy/measured_list.hpp"
#include "studies/runs/levels.hpp"

namespace debubble {

struct JudgedRun {
  const MeasuredRow* row = nullptr;
  std::string schedule;
  int devices = 0;
  int microbatches = 0;
  std::size_t steps = 0;  // of the recording, or lines of the log; 0: only the mean step is known
  double ideal = 0;       // the bubble of this order with equal stages, a backward twice a forward, and no transfers
  BubbleAndStep measured;
  bool has_bubble = true;                                              // false: only the step was measured
  std::array<std::optional<BubbleAndStep>, kLevels.size()> predicted;  // by level

  [[nodiscard]] double bubble_error(BubbleLevel level) const;  // means something where has_bubble
  [[nodiscard]] double step_error(BubbleLevel level) const;
};

// The means of errors, and the one that is furthest from 0.
struct RunErrors {
  double mean_absolute = 0, bias = 0, worst = 0;
  std::string worst_id;
};

struct LevelSummary {
  std::size_t runs = 0;
  std::size_t bubbles = 0;  // runs whose bubble was measured, too
  RunErrors bubble, step;
};

// Throws InputError: what open_run and check_scenario throw, D009 for a run whose order deadlocks, and of a log what
// read_logged_run throws, and P016 where it has no timers.
[[nodiscard]] std::vector<JudgedRun> judge_bubbles(const MeasuredList& list, Progress& progress);

// Of the runs that have this level; without runs all is 0.
[[nodiscard]] LevelSummary summary_of(const std::vector<JudgedRun>& runs, BubbleLevel level);

}  // namespace debubble
