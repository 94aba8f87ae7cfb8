// Which iterations of a log count, and how long they took: one answer for import, plan and diff.
//
// A line is the mean over the iterations since the line before. Releases from 0.17 on also print one after the first
// iteration of a job, s, and forget nothing: the next line, of iteration N, is of all n = N - s + 1, the first among
// them, so that the others took (n x e_N - e_s) / (n - 1). Timers are sums over --log-interval, whatever was timed: of
// L, the others' are L x (t_N - t_s) / (n - 1). Source: training_log of megatron/training/training.py, Timers of
// megatron/core/timers.py (megatron-core 0.17.0 to 0.19.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/megatron/log.hpp"

namespace debubble {

struct MeasuredIterations {
  // Lines of warm iterations of the job's batch, each with its optimizer; where there is no other, the only line.
  std::vector<LoggedInterval> intervals;
  Nanoseconds first = 0;         // of the first iteration alone; 0: no line is of it alone
  bool only_first = false;       // `intervals` is the first line
  bool taken_out = false;        // the first iteration, of the second line
  bool timers_lost = false;      // all of that line: those of the first iteration are not known, or of no one rank
  std::size_t smaller = 0;       // lines of another batch, or of several, that were left out
  std::size_t skipping = 0;      // lines with iterations that skipped the optimizer, left out
  std::int64_t other_batch = 0;  // of the last line, where none has the job's batch and `intervals` is empty
};

// `global_batch`: samples of an iteration; 0: those of the last line.
[[nodiscard]] MeasuredIterations measured_iterations(const MegatronLog& log, std::int64_t global_batch);

// The median over what was measured; 0 where nothing was.
[[nodiscard]] Nanoseconds median_iteration_time(const MeasuredIterations& measured);

}  // namespace debubble
