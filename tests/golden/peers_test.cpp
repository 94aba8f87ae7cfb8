// Makespans on which independent simulators of other people agree, at three sizes.
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

struct Size {
  int devices, microbatches;
};

const std::vector<Size> kSizes{{8, 64}, {16, 256}, {64, 1024}};

// Times are per stage, and a stage of the interleaved rows is a chunk: f and b there are per chunk too.
Nanoseconds makespan(const Schedule& schedule, double f, double b, double hop) {
  const StageCosts costs = toy_costs(schedule, f * schedule.chunks, b * schedule.chunks);
  return totals_of(schedule, costs, {units(hop), 0}).makespan;
}

void check_sizes(const char* name, int chunks, double f, double b, double hop, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(kSizes[i].devices);
    const Schedule schedule = build(name, kSizes[i].devices, kSizes[i].microbatches, chunks);
    CHECK(makespan(schedule, f, b, hop) == units(expected[i]));
  }
}

}  // namespace

TEST_CASE("peers: 1F1B without latency") { check_sizes("1f1b", 1, 1, 2, 0, {213, 813, 3261}); }

TEST_CASE("peers: 1F1B with a hop of 0.01, backward as long as forward") {
  check_sizes("1f1b", 1, 1, 1, 0.01, {143.24, 547.08, 2195.40});
}

TEST_CASE("peers: 1F1B with a hop of 0.01") { check_sizes("1f1b", 1, 1, 2, 0.01, {214.24, 818.08, 3282.40}); }

TEST_CASE("peers: interleaved, two chunks, without latency") {
  check_sizes("interleaved", 2, 1, 2, 0, {405, 1581, 6333});
}

TEST_CASE("peers: interleaved, two chunks, with a hop of 0.01, backward as long as forward") {
  check_sizes("interleaved", 2, 1, 1, 0.01, {270.30, 1054.62, 4224.54});
}

TEST_CASE("peers: the split backward fills all but one hop's worth of 1F1B's tail") {
  const std::vector<double> expected{199, 783};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Schedule schedule = build("zb-h1", kSizes[i].devices, kSizes[i].microbatches);
    CHECK(totals_of(schedule, split_costs(schedule, 1, 1, 1)).makespan == units(expected[i]));
  }
}

TEST_CASE("peers: 1F1B exposes 124, 508 and 2140 hops, however long a hop is") {
  const std::vector<int> hops{124, 508, 2140};
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const int p = kSizes[i].devices;
    const int m = kSizes[i].microbatches;
    const Schedule schedule = build("1f1b", p, m);
    const StageCosts costs = toy_costs(schedule, 1, 2);
    for (const double hop : {0.01, 0.05}) {
      CAPTURE(p);
      CAPTURE(hop);
      const EngineRun run = run_engine(schedule, costs, {units(hop), 0});
      CHECK(run.report.makespan == units(3.0 * (m + p - 1)) + hops[i] * units(hop));
      CHECK(run.report.critical_path.hops == hops[i]);
      CHECK(run.report.critical_path.transfer == hops[i] * units(hop));
    }
  }
}
