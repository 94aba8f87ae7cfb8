// Every row of the catalog, with many parameters: complete, free of deadlock, and in agreement with the rules.
#include "schedules/catalog.hpp"

#include "sim/rows/check.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/schedule_shape.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// The first of the row's schedules with which something is wrong, and what; "" when there is none. At most `most` of
// them are looked at.
template <typename Check>
std::string first_failure(const ScheduleEntry& entry, std::size_t most, const Check& check) {
  std::uint64_t seed = 0;
  for (const Schedule& schedule : schedules_of(entry, most)) {
    const std::string problem = check(schedule, seed++);
    if (!problem.empty()) return describe(schedule) + ": " + problem;
  }
  return "";
}

// Copies run beside compute, so the engine refuses them where transfers hold the compute lanes.
std::vector<P2p> modes_of(const Schedule& schedule) {
  if (!schedule.copies.empty()) return {P2p::kOverlapped};
  return {kEveryP2p.begin(), kEveryP2p.end()};
}

std::string deadlock_problem(const Schedule& schedule) {
  for (const ScheduleProblem& problem : find_problems(schedule)) return problem.message;
  if (const auto deadlock = find_deadlock(schedule)) return to_string(*deadlock);
  for (const P2p p2p : modes_of(schedule)) {
    const bool meets = p2p == P2p::kCoupled || p2p == P2p::kRendezvous;
    if (!meets && std::holds_alternative<Deadlock>(lower(schedule, p2p))) return "deadlocks, " + name_of(p2p);
  }
  return "";
}

std::string agreement_problem(const Schedule& schedule, std::uint64_t seed) {
  Dice dice(seed);
  StageCosts costs = random_costs(schedule.stages, dice);
  // The reference does not know of weight versions, which have tests of their own; weightless, they cost nothing.
  for (StageCost& stage : costs.stages) stage.weights = schedule.asynchrony ? 0 : stage.weights;
  const HopFigures link = random_link(dice);
  for (const P2p p2p : modes_of(schedule)) {
    const std::string problem = disagreement(schedule, costs, link, p2p);
    if (!problem.empty()) return problem + ", " + name_of(p2p) + ", seed " + std::to_string(seed);
  }
  return "";
}

constexpr std::size_t kMany = 120;
constexpr std::size_t kSome = 30;

}  // namespace

TEST_CASE("every catalog row runs every microbatch forward once and completely backward once on every stage") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CHECK_MESSAGE(schedules_of(entry, kMany).size() > 20, entry.name);
    CHECK_EQ(first_failure(entry, kMany, [](const Schedule& s, std::uint64_t) { return shape_problem(s); }), "");
  }
}

TEST_CASE("no catalog row has problems or deadlocks, with overlapped or blocking transfers") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CHECK_EQ(first_failure(entry, kMany, [](const Schedule& s, std::uint64_t) { return deadlock_problem(s); }), "");
  }
}

TEST_CASE("every catalog row agrees with the reference simulator in every mode") {
  for (const ScheduleEntry& entry : schedule_catalog()) CHECK_EQ(first_failure(entry, kSome, agreement_problem), "");
}

TEST_CASE("1F1B does not deadlock even where each exchange waits for both ends") {
  for (const Schedule& schedule : schedules_of(*find_schedule("1f1b"))) {
    CAPTURE(describe(schedule));
    REQUIRE(std::holds_alternative<Program>(lower(schedule, P2p::kCoupled)));
  }
}

TEST_CASE("building a schedule twice gives the same rows") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    const auto once = schedules_of(entry, kSome);
    const auto again = schedules_of(entry, kSome);
    REQUIRE_EQ(once.size(), again.size());
    for (std::size_t i = 0; i < once.size(); ++i) {
      CAPTURE(describe(once[i]));
      REQUIRE(once[i].rows == again[i].rows);
      REQUIRE(once[i].copies == again[i].copies);
      REQUIRE(once[i].placement == again[i].placement);
    }
  }
}
