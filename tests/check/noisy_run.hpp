// Run records as a machine might have measured them: the schedule replayed with costs that jitter, from a seed.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/run_record.hpp"

namespace debubble::testing {

struct NoisyRun {
  std::string schedule = "zb-h1";
  int devices = 4;
  int microbatches = 8;
  int repetitions = 10;
  std::uint64_t seed = 1;
  double noise = 0;            // of every stage's times in each repetition: up to this share more or less
  double added_bubble_pp = 0;  // a slower link makes the bubble this much larger than predicted
  double memory_factor = 1;    // of the last device's peak, as the executor counted it
  bool count_memory = true;
};

// Its costs and links are those it would have had without noise and regression: what a prediction is made from.
[[nodiscard]] RunRecord noisy_run(const NoisyRun& wish);

// The same as a run file's text.
[[nodiscard]] std::string run_file_text(const RunRecord& record);

}  // namespace debubble::testing
