// What a training log says of its last pipeline rank: how long its forwards and backwards took, line by line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/stage_costs.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// One line of iterations, per iteration.
struct TimedLine {
  Nanoseconds pipeline = 0;  // the iteration less what follows the pipeline: reduction of gradients, optimizer
  Nanoseconds forward = 0;   // of the last rank, over all microbatches
  Nanoseconds backward = 0;
};

struct TimedLog {
  std::string schedule;  // "1f1b", "interleaved"
  int devices = 0;
  int microbatches = 0;
  int chunks = 1;
  std::vector<TimedLine> lines;  // but the first, which warms up, and those that skipped the optimizer; at least two
};

// Throws InputError: what read_logged_run and read_megatron throw, P012 for times that contradict each other, P016 for
// a log whose lines have no timers of the last rank, or that has fewer than two to compare.
[[nodiscard]] TimedLog read_timed_log(const std::string& file);

// One stage of one microbatch, as long as the medians of all lines but `left_out` say.
[[nodiscard]] StageCost stage_of_others(const TimedLog& log, std::size_t left_out);

}  // namespace debubble
