// The step times of many seeds: how much noise costs, and how bad it can get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scenario/job/job.hpp"
#include "scenario/request/variation_flags.hpp"
#include "sim/core/units.hpp"

namespace debubble {

inline constexpr int kBins = 40;

struct SeedTimes {
  std::uint64_t first_seed = 1;
  std::vector<Nanoseconds> times;  // by seed

  // Of the sorted times:
  Nanoseconds least = 0;
  Nanoseconds most = 0;
  std::uint64_t least_seed = 0;  // the first of them
  std::uint64_t most_seed = 0;
  Nanoseconds mean = 0;  // to the nearest nanosecond
  double deviation = 0;  // of the sample, ns
  Nanoseconds p50 = 0;   // the smallest time that this share of the seeds does not exceed
  Nanoseconds p95 = 0;
  Nanoseconds p99 = 0;
  std::vector<std::int64_t> bins;  // kBins of equal width from `least` to `most`
};

// Seeds scenario.seed, scenario.seed + 1, ...: each draws the jitter of every op, and the factors of the microbatches
// where these are drawn. `threads` 0: one per core. The schedule must not deadlock.
[[nodiscard]] SeedTimes run_seeds(const Job& job, const VariationScenario& scenario, int seeds, int threads);

// The numbers of a list of times that is not empty.
void summarise(SeedTimes& seeds);

}  // namespace debubble
