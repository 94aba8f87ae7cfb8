// The steady period against the reference simulator: the same rows written out many times in a row, and what one
// iteration adds once every device is shifted by the same amount.
#include "schedules/catalog.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr int kIterations = 60;
constexpr std::size_t kSchedulesPerRow = 6;  // the slow reference runs each of them 60 times over

Schedule chained(const Schedule& once) {
  Schedule chain = once;
  chain.microbatches = once.microbatches * kIterations;
  chain.replica_of.clear();
  for (auto& row : chain.rows) row.clear();
  for (int n = 0; n < kIterations; ++n) {
    chain.replica_of.insert(chain.replica_of.end(), once.replica_of.begin(), once.replica_of.end());
    for (std::size_t d = 0; d < once.rows.size(); ++d) {
      for (Op op : once.rows[d]) {
        op.microbatch += n * once.total_pieces();
        chain.rows[d].push_back(op);
      }
    }
  }
  return chain;
}

// What each of the last iterations adds on every device; nothing when they do not all add the same.
std::optional<Nanoseconds> period_by_the_rules(const Schedule& once, const StageCosts& costs, const HopFigures& link) {
  const auto run =
      reference::simulate(chained(once), costs, link.latency, link.bandwidth, reference::Mode::kOverlapped);
  std::optional<Nanoseconds> period;
  for (const auto& cells : run.cells) {
    const std::size_t per_iteration = cells.size() / kIterations;
    for (std::size_t n = kIterations / 2; n < kIterations && per_iteration > 0; ++n) {
      const Nanoseconds added = cells[(n + 1) * per_iteration - 1].end - cells[n * per_iteration - 1].end;
      if (period && *period != added) return std::nullopt;
      period = added;
    }
  }
  return period;
}

}  // namespace

TEST_CASE("the steady period is what one more iteration adds when iterations are chained") {
  int checked = 0;
  int cases = 0;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    const auto schedules = schedules_of(entry, kSchedulesPerRow);
    for (std::size_t i = 0; i < schedules.size(); ++i, ++cases) {
      if (schedules[i].total_ops() > 120 || find_deadlock(schedules[i])) continue;
      Dice dice(i);
      const StageCosts costs = random_costs(schedules[i].stages, dice);
      const HopFigures link = random_link(dice);
      const auto expected = period_by_the_rules(schedules[i], costs, link);
      if (!expected) continue;
      CAPTURE(describe(schedules[i]));
      CAPTURE(i);
      const Program program = std::get<Program>(lower(schedules[i]));
      REQUIRE_EQ(steady_period(program, costs, Topology::ideal(link.latency, link.bandwidth)), *expected);
      ++checked;
    }
  }
  CHECK(checked > cases / 4);  // the larger ones are left out
}

TEST_CASE("the steady period lies between the busiest device and the makespan") {
  for (std::uint64_t seed = 800'001; seed <= 800'300; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const StageCosts costs = random_costs(schedule.stages, dice);
    const HopFigures link = random_link(dice);
    const Program program = std::get<Program>(lower(schedule));
    const Topology topology = Topology::ideal(link.latency, link.bandwidth);
    const Totals totals = simulate_totals(program, costs, topology);
    const Nanoseconds period = steady_period(program, costs, topology);
    CAPTURE(seed);
    REQUIRE(period <= totals.makespan);
    for (const DeviceTotals& device : totals.devices) REQUIRE(period >= device.busy);
  }
}

// Doubling every time doubles the makespan; the same input gives the same result; a longer link never helps.

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
