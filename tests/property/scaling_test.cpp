// Doubling every time doubles the makespan; the same input gives the same result; a longer link never helps.
#include "tests/support/engine_run.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Sizes that a link of 2e9 bytes/s moves in whole nanoseconds, and times that pieces divide, so that nothing is
// rounded.
StageCosts even_costs(const Schedule& schedule, Dice& dice) {
  StageCosts costs = random_costs(schedule.stages, dice);
  for (StageCost& cost : costs.stages) {
    cost.output *= 2 * schedule.pieces;
    for (Nanoseconds* each : {&cost.forward, &cost.backward, &cost.input_grad, &cost.weight_grad}) {
      *each *= schedule.pieces;
    }
  }
  if (costs.overlapped_pair) *costs.overlapped_pair *= schedule.pieces;
  return costs;
}

StageCosts doubled(StageCosts costs) {
  for (StageCost& cost : costs.stages) {
    for (Nanoseconds* each : {&cost.forward, &cost.backward, &cost.input_grad, &cost.weight_grad}) *each *= 2;
  }
  if (costs.overlapped_pair) *costs.overlapped_pair *= 2;
  return costs;
}

}  // namespace

TEST_CASE("doubling all times and latencies and halving the bandwidth doubles the makespan and no peak") {
  for (const P2p p2p : kEveryP2p) {
    for (std::uint64_t seed = 500'001; seed <= 500'600; ++seed) {
      Dice dice(seed);
      const Schedule schedule = random_schedule(dice);
      const StageCosts costs = even_costs(schedule, dice);
      const HopFigures link{dice.from(0, 9), dice.once_in(2) ? 2'000'000'000 : 0};
      const EngineRun once = run_engine(schedule, costs, link, p2p);
      const EngineRun twice = run_engine(schedule, doubled(costs), {2 * link.latency, link.bandwidth / 2}, p2p);
      CAPTURE(seed);
      CAPTURE(name_of(p2p));
      REQUIRE_EQ(once.deadlock.has_value(), twice.deadlock.has_value());
      if (once.deadlock) continue;
      REQUIRE_EQ(twice.totals.makespan, 2 * once.totals.makespan);
      REQUIRE_EQ(twice.totals.span, 2 * once.totals.span);
      for (std::size_t d = 0; d < once.totals.devices.size(); ++d) {
        REQUIRE_EQ(twice.totals.devices[d].peak_memory, once.totals.devices[d].peak_memory);
        REQUIRE_EQ(twice.totals.devices[d].peak_activation, once.totals.devices[d].peak_activation);
      }
    }
  }
}

TEST_CASE("no op starts earlier on a slower link when transfers are overlapped") {
  for (std::uint64_t seed = 600'001; seed <= 600'600; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const StageCosts costs = random_costs(schedule.stages, dice);
    const HopFigures link = random_link(dice);
    const EngineRun fast = run_engine(schedule, costs, link);
    const EngineRun slow = run_engine(schedule, costs, {link.latency + dice.from(1, 7), link.bandwidth});
    CAPTURE(seed);
    REQUIRE_EQ(fast.timeline.spans.size(), slow.timeline.spans.size());
    for (std::size_t i = 0; i < fast.timeline.spans.size(); ++i) {
      REQUIRE(fast.timeline.spans[i].begin <= slow.timeline.spans[i].begin);
    }
  }
}

TEST_CASE("a run is bounded by its busiest device from below and by all work in a row from above") {
  for (std::uint64_t seed = 700'001; seed <= 700'600; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const EngineRun run = run_engine(schedule, random_costs(schedule.stages, dice), random_link(dice));
    Nanoseconds all = 0;
    CAPTURE(seed);
    for (const Transfer& transfer : run.timeline.transfers) all += transfer.end - transfer.begin;
    for (const DeviceTotals& device : run.totals.devices) {
      REQUIRE(run.totals.makespan >= device.busy);
      all += device.busy;
    }
    REQUIRE(run.totals.makespan <= all);
    REQUIRE(run.totals.span <= run.totals.makespan);
  }
}
