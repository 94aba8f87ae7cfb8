#include "studies/whatif/seeds.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "scenario/job/make_variation.hpp"
#include "studies/parallel.hpp"
#include "studies/whatif/step_time.hpp"

namespace debubble {

namespace {

// Nearest rank: no time is shown that no seed had.
Nanoseconds sorted_percentile(const std::vector<Nanoseconds>& sorted, std::size_t percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

// Sums of offsets from the least stay exact: makespans are near each other, and there are at most a million.
void add_moments(SeedTimes& seeds) {
  __extension__ using Wide = __int128;
  Wide sum = 0;
  double squares = 0;
  const auto count = static_cast<std::int64_t>(seeds.times.size());
  for (const Nanoseconds time : seeds.times) sum += time - seeds.least;
  const double mean = static_cast<double>(sum) / static_cast<double>(count);
  for (const Nanoseconds time : seeds.times) {
    const double off = static_cast<double>(time - seeds.least) - mean;
    squares += off * off;
  }
  seeds.mean = seeds.least + static_cast<Nanoseconds>((2 * sum + count) / (2 * static_cast<Wide>(count)));
  seeds.deviation = count > 1 ? std::sqrt(squares / static_cast<double>(count - 1)) : 0;
}

void add_bins(SeedTimes& seeds) {
  seeds.bins.assign(kBins, 0);
  const double width = static_cast<double>(seeds.most - seeds.least) / kBins;
  for (const Nanoseconds time : seeds.times) {
    const double bin = width > 0 ? static_cast<double>(time - seeds.least) / width : 0;
    ++seeds.bins[std::min<std::size_t>(static_cast<std::size_t>(bin), kBins - 1)];
  }
}

}  // namespace

void summarise(SeedTimes& seeds) {
  std::vector<Nanoseconds> sorted = seeds.times;
  std::sort(sorted.begin(), sorted.end());
  seeds.least = sorted.front();
  seeds.most = sorted.back();
  const auto seed_of = [&](Nanoseconds time) {
    const auto found = std::find(seeds.times.begin(), seeds.times.end(), time);
    return seeds.first_seed + static_cast<std::uint64_t>(found - seeds.times.begin());
  };
  seeds.least_seed = seed_of(seeds.least);
  seeds.most_seed = seed_of(seeds.most);
  seeds.p50 = sorted_percentile(sorted, 50);
  seeds.p95 = sorted_percentile(sorted, 95);
  seeds.p99 = sorted_percentile(sorted, 99);
  add_moments(seeds);
  add_bins(seeds);
}

SeedTimes run_seeds(const Job& job, const VariationScenario& scenario, int seeds, int threads) {
  const auto program = lowered(job, job.p2p);
  if (!program || seeds < 1) throw std::logic_error("run_seeds: nothing to run");
  SeedTimes result;
  result.first_seed = scenario.seed;
  result.times.resize(static_cast<std::size_t>(seeds));
  for_each_index(result.times.size(), threads_for(result.times.size(), threads), [&](std::size_t k) {
    VariationScenario own = scenario;
    own.seed += k;
    result.times[k] = step_time(job, *program, make_variation(own, job.schedule, job.pipeline_replicas));
  });
  summarise(result);
  return result;
}

}  // namespace debubble
