// assemble_timeline: with the engine's times it gives the engine's Timeline; with measured ones a Timeline that every
// analysis can read; and each of its refusals, from both sides.
#include "sim/rows/observed.hpp"

#include "schedules/catalog.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/rows/check.hpp"
#include "tests/live/agreement.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/random_interleaved.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// The engine's run, observed and assembled again.
std::string lost_in_assembly(const Schedule& schedule, const StageCosts& costs, const HopFigures& link, P2p p2p) {
  const EngineRun run = run_engine(schedule, costs, link, p2p);
  if (run.deadlock) return "";
  const Timeline timeline = assemble_timeline(schedule, observation_of(run.timeline, p2p));
  const std::string text = difference(timeline, run.timeline);
  return text.empty() ? difference(analyse(timeline, schedule, costs), run.report) : text;
}

// 1F1B on two devices with two microbatches, seen as the engine runs it: forward and backward take 10 ns, a hop 3 ns.
struct Seen {
  Schedule schedule = build("1f1b", 2, 2);
  Observation observation;

  Seen() {
    StageCosts costs;
    costs.stages.assign(2, {});
    for (StageCost& cost : costs.stages) cost.forward = cost.backward = 10, cost.output = 4;
    observation = observation_of(run_engine(schedule, costs, {3, 0}).timeline, P2p::kOverlapped);
  }
  ObservedOp& op(const std::string& name) {
    for (ObservedOp& each : observation.ops) {
      if (to_string(each.op) == name) return each;
    }
    FAIL("no such op");
    return observation.ops[0];
  }
  // "V020: nobody saw ..." of each problem; "" when there is none.
  [[nodiscard]] std::string problems() const {
    std::string text;
    try {
      (void)assemble_timeline(schedule, observation);
    } catch (const InputError& error) {
      for (const Diagnostic& each : error.diagnostics()) text += each.code + ": " + each.message + "\n";
    }
    return text;
  }
};

}  // namespace

TEST_CASE("an observation with the engine's times gives the engine's timeline, for random schedules") {
  for (const P2p p2p : kEveryP2p) {
    for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
      Dice dice(seed);
      const Schedule schedule = random_schedule(dice);
      const StageCosts costs = random_costs(schedule.stages, dice);
      const HopFigures link = random_link(dice);
      CAPTURE(seed);
      CAPTURE(name_of(p2p));
      REQUIRE_EQ(lost_in_assembly(schedule, costs, link, p2p), "");
    }
  }
}

TEST_CASE("an observation with the engine's times gives the engine's timeline, interleaved and coupled") {
  for (std::uint64_t seed = 2'600'001; seed <= 2'600'300; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_interleaved(dice);
    if (!find_problems(schedule).empty()) continue;  // neighbours were swapped
    StageCosts costs = random_costs(schedule.stages, dice);
    add_feature_costs(costs, dice);
    CAPTURE(seed);
    REQUIRE_EQ(lost_in_assembly(schedule, costs, random_link(dice), P2p::kCoupled), "");
  }
}

TEST_CASE("an observation with the engine's times gives the engine's timeline, interleaved with joined exchanges") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_groups(dice);
    CAPTURE(seed);
    REQUIRE_EQ(lost_in_assembly(schedule, random_costs(schedule.stages, dice), random_link(dice), P2p::kJoined), "");
  }
}

TEST_CASE("an observation with the engine's times gives the engine's timeline, for every catalog row") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    const std::vector<Schedule> schedules = schedules_of(entry);
    const std::size_t step = std::max<std::size_t>(1, schedules.size() / 12);
    for (std::size_t k = 0; k < schedules.size(); k += step) {
      Dice dice(k);
      const StageCosts costs = random_costs(schedules[k].stages, dice);
      const HopFigures link = random_link(dice);
      for (const P2p p2p : kEveryP2p) {
        CAPTURE(describe(schedules[k]));
        CAPTURE(name_of(p2p));
        if (not_observable(schedules[k])) {
          CHECK_THROWS_WITH_AS((void)assemble_timeline(schedules[k], Observation{}), doctest::Contains("T054"),
                               InputError);
          continue;
        }
        REQUIRE_EQ(lost_in_assembly(schedules[k], costs, link, p2p), "");
      }
    }
  }
}

TEST_CASE("a complete observation has no problems, one without an op, with one twice or elsewhere has") {
  CHECK_EQ(Seen().problems(), "");
  Seen missing;
  missing.observation.ops.pop_back();
  CHECK_EQ(missing.problems(), "V020: nobody saw 0F0 of device 0\n");
  Seen twice;
  twice.observation.ops.push_back(twice.op("1B1"));
  CHECK_EQ(twice.problems(), "V020: 1B1 was seen twice\n");
  Seen elsewhere;
  elsewhere.op("1F0").device = 0;
  CHECK_EQ(elsewhere.problems(), "V020: 1F0 ran on device 0, and its place is device 1\n");
}

TEST_CASE("an op may take no time, and must not end before its begin or begin before the next one's end") {
  Seen empty;
  empty.op("1B1").end = empty.op("1B1").begin;
  CHECK_EQ(empty.problems(), "");
  Seen reversed;
  reversed.op("0F0").end = -1;
  CHECK_EQ(reversed.problems(), "V023: 0F0 ends at -1 ns, before its begin at 0 ns\n");
  Seen touching;
  CHECK_EQ(touching.op("0F0").end, touching.op("0F1").begin);
  touching.op("0F0").end += 1;
  CHECK_EQ(touching.problems(), "V023: 0F1 begins on device 0 at 10 ns, before 0F0 ends at 11 ns\n");
}

TEST_CASE("an op and a transfer that the schedule does not have are refused, all at once") {
  Seen seen;
  seen.observation.ops.push_back({{OpKind::kForward, false, 0, 7}, {}, false, 0, 90, 95});
  seen.observation.transfers.push_back({{OpKind::kForward, false, 1, 0}, 1, 0, 50, 51, 0, 4});
  seen.observation.transfers.push_back(seen.observation.transfers[0]);
  CHECK_EQ(seen.problems(),
           "V020: 0F7 ran, and the schedule does not have it\n"
           "V020: the output of 1F0 from device 1 to device 0 is not a transfer of the schedule\n"
           "V020: the output of 1B1 from device 1 to device 0 was seen twice\n");
}

TEST_CASE("measured times that lie further apart than a run lasts are refused, wherever they stand") {
  constexpr Nanoseconds kFirst = std::numeric_limits<Nanoseconds>::min();
  constexpr Nanoseconds kLast = std::numeric_limits<Nanoseconds>::max();
  Seen apart;
  apart.observation.measured = true;
  apart.op("0F0").begin = kFirst;
  apart.op("0B1").end = kLast;
  apart.observation.transfers.front().end = kLast;
  const std::string text = apart.problems();
  CHECK(contains(text,
                 "V023: 0B1 ends 18446744073709551615 ns after the first op begins, which is more than two years\n"));
  CHECK(contains(text, "arrives 18446744073709551615 ns after the first op begins"));
  for (const Nanoseconds start : {kFirst, kLast - 1000}) {
    Seen seen;
    seen.observation.measured = true;
    for (ObservedOp& each : seen.observation.ops) each.begin += start, each.end += start;
    for (ObservedTransfer& each : seen.observation.transfers) each.begin = kFirst, each.end += start;
    const Timeline timeline = assemble_timeline(seen.schedule, seen.observation);
    CHECK_EQ(timeline.spans[0].begin, 0);
    CHECK_EQ(timeline.makespan, assemble_timeline(seen.schedule, Seen().observation).makespan);
  }
}

TEST_CASE("of very many problems the first twenty are told") {
  Seen seen;
  const ObservedOp stray{{OpKind::kForward, false, 0, 7}, {}, false, 0, 90, 95};
  for (int k = 0; k < 50; ++k) seen.observation.ops.push_back(stray);
  const std::string text = seen.problems();
  CHECK_EQ(std::count(text.begin(), text.end(), '\n'), 21);
  CHECK(text.ends_with("P022: there are further problems that are not shown\n"));
}

TEST_CASE("a measured run begins at its first op, and an unseen transfer takes no time") {
  Seen seen;
  seen.observation.measured = true;
  seen.observation.transfers.clear();
  for (ObservedOp& each : seen.observation.ops) each.begin += 1000, each.end += 1000;
  const Timeline timeline = assemble_timeline(seen.schedule, seen.observation);
  CHECK(timeline.measured);
  CHECK_EQ(timeline.spans[0].begin, 0);
  CHECK_EQ(timeline.transfers.size(), 4);
  for (const Transfer& each : timeline.transfers) {
    CHECK_EQ(each.begin, each.end);
    CHECK_EQ(each.begin, timeline.spans[static_cast<std::size_t>(each.from_span)].end);
  }
}

TEST_CASE("an arrival before its leaving is refused only where the clocks' error does not explain it") {
  for (const Nanoseconds error : {0, 7, 40}) {
    Seen seen;
    seen.observation.measured = true;
    seen.observation.clock_error = error;
    ObservedTransfer& early = seen.observation.transfers[0];
    early.end = early.begin - error;
    const Timeline timeline = assemble_timeline(seen.schedule, seen.observation);
    for (const Transfer& each : timeline.transfers) CHECK(each.end >= each.begin);
    --early.end;
    CHECK(contains(seen.problems(), "V023: the output of " + to_string(early.op) + " from device "));
    CHECK(contains(seen.problems(), " arrives before it leaves\n"));
    if (error == 0) continue;
    early.end = early.begin - 1;
    seen.observation.measured = false;  // given times have no clock
    CHECK(contains(seen.problems(), "arrives before it leaves"));
  }
}

TEST_CASE("where measured clocks differ a little, transfers stay between maker and user") {
  Seen seen;
  seen.observation.measured = true;
  for (ObservedTransfer& each : seen.observation.transfers) {
    if (each.from_device == 0) each.begin -= 5, each.end += 1;  // before its maker's end, after its use
  }
  const Timeline timeline = assemble_timeline(seen.schedule, seen.observation);
  for (const Transfer& each : timeline.transfers) {
    CHECK(each.begin >= timeline.spans[static_cast<std::size_t>(each.from_span)].end);
    CHECK(each.end <= timeline.spans[static_cast<std::size_t>(each.to_span)].begin);
  }
}

TEST_CASE("whatever was measured, gates lead back to the start and the report's sums hold") {
  for (const P2p p2p : kEveryP2p) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      Dice dice(seed);
      const Schedule schedule = random_schedule(dice);
      const StageCosts costs = random_costs(schedule.stages, dice);
      Observation observation = observation_of(run_engine(schedule, costs, random_link(dice)).timeline, p2p);
      observation.measured = true;
      std::vector<Nanoseconds> offsets;  // of the devices' clocks
      for (int d = 0; d < schedule.devices; ++d) offsets.push_back(dice.from(-3, 3));
      const auto offset = [&](std::int32_t device) { return offsets[static_cast<std::size_t>(device)]; };
      for (ObservedOp& each : observation.ops) each.begin += offset(each.device), each.end += offset(each.device);
      for (ObservedTransfer& each : observation.transfers) {
        each.begin += offset(each.to_device);
        each.end += offset(each.to_device);
      }
      CAPTURE(seed);
      const Timeline timeline = assemble_timeline(schedule, observation);
      const Report report = analyse(timeline, schedule, costs);
      const CriticalPath& path = report.critical_path;
      CHECK_EQ(path.compute + path.transfer + path.collective + path.wait, report.makespan);
      CHECK(path.wait >= 0);
      for (const DeviceReport& device : report.devices) {
        Nanoseconds causes = 0;
        for (const Nanoseconds each : device.idle_by_cause) causes += each;
        REQUIRE_EQ(causes, device.idle);
      }
    }
  }
}

TEST_CASE("times that contradict the schedule's order do not lead in a circle") {
  for (const P2p p2p : kEveryP2p) {
    for (std::uint64_t seed = 300'001; seed <= 300'300; ++seed) {
      Dice dice(seed);
      Schedule schedule = random_schedule(dice);
      shuffle_rows(schedule, dice);
      Observation observation;  // all at once, although many of these schedules deadlock
      observation.p2p = p2p;
      observation.measured = dice.once_in(2);
      for (std::int32_t device = 0; device < schedule.devices; ++device) {
        for (const Op& op : schedule.rows[static_cast<std::size_t>(device)]) {
          observation.ops.push_back({op, {}, false, device, 7, 7});
        }
      }
      CAPTURE(seed);
      const Timeline timeline = assemble_timeline(schedule, observation);
      CHECK(critical_path(timeline).size() <= timeline.spans.size() + timeline.transfers.size());
    }
  }
}
