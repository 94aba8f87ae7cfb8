// Every row of the catalog, with many parameters: complete, free of deadlock, and in agreement with the rules.
#include "schedules/catalog.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "sim/core/check.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/random_case.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// How often each kind of op of one (stage, piece) stands in the rows; "" when every piece runs forward once and
// completely backward once on the device of its replica's stage.
std::string incompleteness(const Schedule& schedule) {
  std::map<std::pair<int, int>, std::string> seen;
  for (std::size_t d = 0; d < schedule.rows.size(); ++d) {
    for (const Op& op : schedule.rows[d]) {
      const int replica = schedule.replica_of.at(static_cast<std::size_t>(op.microbatch));
      if (schedule.placement.device_of(replica, op.stage) != static_cast<int>(d))
        return to_string(op) + " is misplaced";
      seen[{op.stage, op.microbatch}] += letter(op.kind);
    }
  }
  for (int stage = 0; stage < schedule.stages; ++stage) {
    for (int piece = 0; piece < schedule.total_pieces(); ++piece) {
      const std::string& letters = seen[{stage, piece}];
      if (letters != "FB" && letters != "FIW") {
        return "stage " + std::to_string(stage) + " runs \"" + letters + "\" on microbatch " + std::to_string(piece);
      }
    }
  }
  return "";
}

// The first of the row's schedules with which something is wrong, and what; "" when there is none. At most `limit` of
// them are looked at, evenly spread.
template <typename Check>
std::string first_failure(const ScheduleEntry& entry, std::size_t limit, const Check& check) {
  const auto schedules = schedules_of(entry);
  for (std::size_t i = 0; i < schedules.size(); i += schedules.size() / limit + 1) {
    const std::string problem = check(schedules[i], i);
    if (!problem.empty()) return describe(schedules[i]) + ": " + problem;
  }
  return "";
}

std::string shape_problem(const Schedule& schedule) {
  if (schedule.rows.size() != static_cast<std::size_t>(schedule.devices)) return "not one row per device";
  if (schedule.replica_of.size() != static_cast<std::size_t>(schedule.total_pieces())) return "replica_of is too short";
  if (schedule.stages != schedule.devices * schedule.chunks) return "stages are not devices times chunks";
  return incompleteness(schedule);
}

std::string deadlock_problem(const Schedule& schedule) {
  for (const ScheduleProblem& problem : find_problems(schedule)) return problem.message;
  if (const auto deadlock = find_deadlock(schedule)) return to_string(*deadlock);
  for (const P2p p2p : {P2p::kOverlapped, P2p::kBlocking}) {
    if (std::holds_alternative<Deadlock>(lower(schedule, p2p))) return "deadlocks, " + name_of(p2p);
  }
  return "";
}

std::string agreement_problem(const Schedule& schedule, std::uint64_t seed) {
  Dice dice(seed);
  const StageCosts costs = random_costs(schedule.stages, dice);
  const Link link = random_link(dice);
  for (const P2p p2p : {P2p::kOverlapped, P2p::kBlocking, P2p::kCoupled}) {
    const std::string problem = disagreement(schedule, costs, link, p2p);
    if (!problem.empty()) return problem + ", " + name_of(p2p) + ", seed " + std::to_string(seed);
  }
  return "";
}

constexpr std::size_t kAll = 1'000'000;

}  // namespace

TEST_CASE("every catalog row runs every microbatch forward once and completely backward once on every stage") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CHECK_MESSAGE(schedules_of(entry).size() > 20, entry.name);
    CHECK_EQ(first_failure(entry, kAll, [](const Schedule& s, std::size_t) { return shape_problem(s); }), "");
  }
}

TEST_CASE("no catalog row has problems or deadlocks, with overlapped or blocking transfers") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CHECK_EQ(first_failure(entry, kAll, [](const Schedule& s, std::size_t) { return deadlock_problem(s); }), "");
  }
}

TEST_CASE("every catalog row agrees with the reference simulator in every mode") {
  for (const ScheduleEntry& entry : schedule_catalog()) CHECK_EQ(first_failure(entry, 400, agreement_problem), "");
}

TEST_CASE("1F1B does not deadlock even where each exchange waits for both ends") {
  for (const Schedule& schedule : schedules_of(*find_schedule("1f1b"))) {
    CAPTURE(describe(schedule));
    REQUIRE(std::holds_alternative<Program>(lower(schedule, P2p::kCoupled)));
  }
}

TEST_CASE("building a schedule twice gives the same rows") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    const auto once = schedules_of(entry);
    const auto again = schedules_of(entry);
    REQUIRE_EQ(once.size(), again.size());
    for (std::size_t i = 0; i < once.size(); ++i) {
      CAPTURE(describe(once[i]));
      REQUIRE(once[i].rows == again[i].rows);
      REQUIRE(once[i].placement == again[i].placement);
    }
  }
}
