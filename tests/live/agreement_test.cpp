// The cpu backend on the logical clock with given costs equals the simulator: every time to the nanosecond, every peak
// to the byte, every number of the report.
#include "tests/live/agreement.hpp"
#include "schedules/catalog.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/random_interleaved.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr P2p kModes[] = {P2p::kOverlapped, P2p::kBlocking, P2p::kCoupled};

}  // namespace

TEST_CASE("every catalog row runs live as it is simulated, with equal stages and free links") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    const Schedule schedule = build(entry.name, 4, 8);
    StageCosts costs = split_costs(schedule, 1, 1, 1);
    for (const P2p p2p : kModes) {
      CAPTURE(entry.name);
      CAPTURE(name_of(p2p));
      CHECK_EQ(live_disagreement(schedule, costs, {}, p2p), "");
    }
  }
}

TEST_CASE("every catalog row runs live as it is simulated, with unequal stages and slow links") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    const std::vector<Schedule> schedules = schedules_of(entry);
    const std::size_t step = std::max<std::size_t>(1, schedules.size() / 10);
    for (std::size_t k = 0; k < schedules.size(); k += step) {
      Dice dice(k);
      const StageCosts costs = random_costs(schedules[k].stages, dice);
      const HopFigures link = random_link(dice);
      for (const P2p p2p : kModes) {
        CAPTURE(describe(schedules[k]));
        CAPTURE(name_of(p2p));
        REQUIRE_EQ(live_disagreement(schedules[k], costs, link, p2p), "");
      }
    }
  }
}

TEST_CASE("random schedules run live as they are simulated") {
  for (const P2p p2p : kModes) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
      Dice dice(seed);
      const Schedule schedule = random_schedule(dice);
      const StageCosts costs = random_costs(schedule.stages, dice);
      const HopFigures link = random_link(dice);
      CAPTURE(seed);
      CAPTURE(name_of(p2p));
      REQUIRE_EQ(live_disagreement(schedule, costs, link, p2p), "");
    }
  }
}

TEST_CASE("random interleaved programs run live as they are simulated, coupled transfers") {
  for (std::uint64_t seed = 2'500'001; seed <= 2'500'150; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_interleaved(dice, true);
    if (!find_problems(schedule).empty()) continue;  // neighbours were swapped
    const StageCosts costs = random_costs(schedule.stages, dice);
    CAPTURE(seed);
    REQUIRE_EQ(live_disagreement(schedule, costs, random_link(dice), P2p::kCoupled), "");
  }
}

TEST_CASE("rows shuffled at random get stuck live exactly where they deadlock in the simulator") {
  for (const P2p p2p : kModes) {
    for (std::uint64_t seed = 300'001; seed <= 300'100; ++seed) {
      Dice dice(seed);
      Schedule schedule = random_schedule(dice);
      shuffle_rows(schedule, dice);
      CAPTURE(seed);
      CAPTURE(name_of(p2p));
      REQUIRE_EQ(live_disagreement(schedule, random_costs(schedule.stages, dice), random_link(dice), p2p), "");
    }
  }
}
