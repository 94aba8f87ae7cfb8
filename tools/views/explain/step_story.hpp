// The story of a step: its critical path in words, and what it is made of.
//
//     0.000 to  3.000 ms   down the pipeline: 0F0 to 3F0 over 4 devices, 3 hops
//     3.000 to 27.000 ms   device 3 computes: 3F0 to 3B7, 16 ops
//     27.00 to 33.00 ms    up the pipeline: 2B7 to 0B7 over 3 devices, 3 hops
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/timeline.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

// A stretch of the critical path that one phrase describes.
struct PathGroup {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::string what;
  std::size_t things = 0;    // spans, transfers and tasks in it
  Nanoseconds compute = 0;   // of the spans in it
  Nanoseconds transfer = 0;  // of the transfers and copies in it
};

// In order; they cover the step but for launch gaps and waits for another replica.
[[nodiscard]] std::vector<PathGroup> path_groups(const Timeline& timeline);

// One of the things that the step's length consists of.
struct PathShare {
  std::string what;  // "compute on device 3 (stage 3)", "transfers: latency", "gradient reduce"
  Nanoseconds time = 0;
};

// The largest first; they add up to the makespan exactly.
[[nodiscard]] std::vector<PathShare> path_shares(const Simulated& run);

}  // namespace debubble
