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
