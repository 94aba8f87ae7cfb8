// Random schedules, costs, placements and links: the engine and the reference simulator agree on every start and end to
// the nanosecond and on every peak to the byte, and every promise of the report holds.
#include "sim/rows/check.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Whether devices wait for each other's exchanges, so that rows may deadlock that do not where transfers overlap.
bool exchanges_meet(P2p p2p) { return p2p == P2p::kCoupled || p2p == P2p::kRendezvous; }

// Runs `count` seeds in one mode and stops at the first that disagrees.
void agree_on_seeds(std::uint64_t first_seed, int count, P2p p2p) {
  int deadlocks = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + static_cast<std::uint64_t>(count); ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const StageCosts costs = random_costs(schedule.stages, dice);
    const HopFigures link = random_link(dice);
    CAPTURE(seed);
    CAPTURE(name_of(p2p));
    REQUIRE_EQ(disagreement(schedule, costs, link, p2p), "");
    const bool deadlock = std::holds_alternative<Deadlock>(lower(schedule, p2p));
    deadlocks += deadlock ? 1 : 0;
    if (!exchanges_meet(p2p)) REQUIRE_FALSE(deadlock);
  }
  if (exchanges_meet(p2p)) {
    CHECK(deadlocks > 0);
    CHECK(deadlocks < count);
  }
}

}  // namespace

TEST_CASE("random schedules agree with the reference simulator, overlapped transfers") {
  agree_on_seeds(1, 2500, P2p::kOverlapped);
}

TEST_CASE("random schedules agree with the reference simulator, blocking transfers") {
  agree_on_seeds(100'001, 2500, P2p::kBlocking);
}

TEST_CASE("random schedules agree with the reference simulator, coupled transfers") {
  agree_on_seeds(200'001, 2500, P2p::kCoupled);
}

TEST_CASE("random schedules agree with the reference simulator, late transfers") {
  agree_on_seeds(300'001, 2500, P2p::kLate);
}

TEST_CASE("random schedules agree with the reference simulator, one rendezvous after another") {
  agree_on_seeds(400'001, 2500, P2p::kRendezvous);
}

TEST_CASE("a pair whose members depend on each other is refused, not simulated") {
  Schedule schedule;
  schedule.name = "dependent pair";
  schedule.devices = schedule.stages = schedule.microbatches = 1;
  schedule.placement = loop_placement(1, 1);
  schedule.replica_of = {0};
  schedule.rows = {{{OpKind::kForward, true, 0, 0}, {OpKind::kBackward, false, 0, 0}}};
  for (const P2p p2p : kEveryP2p) {
    try {
      (void)lower(schedule, p2p);
      FAIL("the pair was accepted");
    } catch (const InputError& error) {
      REQUIRE_EQ(error.diagnostics().size(), 1);
      CHECK_EQ(error.diagnostics()[0].code, "T010");
      CHECK_EQ(error.diagnostics()[0].message, "0B0 needs 0F0, with which it is paired");
    }
  }
}

TEST_CASE("rows shuffled at random deadlock in the engine exactly where they do in the reference simulator") {
  for (const P2p p2p : kEveryP2p) {
    int deadlocks = 0;
    int count = 0;
    for (std::uint64_t seed = 300'001; seed <= 301'000; ++seed, ++count) {
      Dice dice(seed);
      Schedule schedule = random_schedule(dice);
      shuffle_rows(schedule, dice);
      CAPTURE(seed);
      CAPTURE(name_of(p2p));
      REQUIRE_EQ(disagreement(schedule, random_costs(schedule.stages, dice), random_link(dice), p2p), "");
      deadlocks += std::holds_alternative<Deadlock>(lower(schedule, p2p)) ? 1 : 0;
    }
    CHECK(deadlocks > count / 20);
    CHECK(deadlocks < count);
  }
}

TEST_CASE("find_deadlock says what lower says when transfers hold no lane") {
  for (std::uint64_t seed = 400'001; seed <= 401'000; ++seed) {
    Dice dice(seed);
    Schedule schedule = random_schedule(dice);
    if (dice.once_in(2)) shuffle_rows(schedule, dice);
    CAPTURE(seed);
    const auto found = find_deadlock(schedule);
    REQUIRE_EQ(found.has_value(), std::holds_alternative<Deadlock>(lower(schedule)));
    if (found) REQUIRE_EQ(broken_cycle(*found, schedule), "");
  }
}

// Random schedules that hold more than F, B, I and W of equal pieces: the engine and the reference simulator agree on
// every time to the nanosecond, on every peak to the byte and on every deadlock, and every promise of the report holds.

namespace {

constexpr int kSeeds = 2000;

// Runs `count` seeds and stops at the first that disagrees.
void agree(std::uint64_t first_seed, const Features& features, P2p p2p = P2p::kOverlapped, int count = kSeeds) {
  for (std::uint64_t seed = first_seed; seed < first_seed + static_cast<std::uint64_t>(count); ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule_with(features, dice);
    StageCosts costs = random_costs(schedule.stages, dice);
    add_feature_costs(costs, dice);
    CAPTURE(seed);
    CAPTURE(name_of(p2p));
    REQUIRE_EQ(disagreement(schedule, costs, random_link(dice), p2p), "");
  }
}

bool has_problem(const Schedule& schedule, const std::string& code) {
  const auto problems = find_problems(schedule);
  return std::any_of(problems.begin(), problems.end(), [&](const ScheduleProblem& p) { return p.code == code; });
}

}  // namespace

TEST_CASE("random recomputations agree with the reference simulator") { agree(1'000'001, {.recompute = true}); }

TEST_CASE("random recomputations agree with the reference simulator where transfers hold lanes") {
  agree(1'100'001, {.recompute = true, .shares = true}, P2p::kBlocking, kSeeds / 2);
  agree(1'200'001, {.recompute = true, .side_by_side = true}, P2p::kCoupled, kSeeds / 2);
}

TEST_CASE("random unequal pieces agree with the reference simulator") { agree(1'300'001, {.shares = true}); }

TEST_CASE("random slices agree with the reference simulator") {
  agree(1'400'001, {.slices = true});
  agree(1'500'001, {.shares = true, .slices = true}, P2p::kOverlapped, kSeeds / 2);
}

TEST_CASE("random pairs side by side agree with the reference simulator") {
  agree(1'600'001, {.recompute = true, .side_by_side = true});
}

TEST_CASE("random shards of the vocabulary agree with the reference simulator") {
  agree(1'700'001, {.shards = true});
  agree(1'800'001, {.recompute = true, .shares = true, .shards = true}, P2p::kOverlapped, kSeeds / 2);
}

TEST_CASE("random copies agree with the reference simulator") {
  agree(1'900'001, {.copies = true});
  agree(2'000'001, {.recompute = true, .shares = true, .copies = true, .side_by_side = true}, P2p::kOverlapped,
        kSeeds / 2);
}

TEST_CASE("everything together agrees with the reference simulator") {
  agree(2'100'001, {.recompute = true, .shares = true, .slices = true, .shards = true, .copies = true});
}

TEST_CASE("rows with features shuffled at random deadlock exactly where they do in the reference simulator") {
  int deadlocks = 0;
  for (std::uint64_t seed = 2'200'001; seed < 2'200'001 + kSeeds; ++seed) {
    Dice dice(seed);
    Schedule schedule = random_schedule_with({.recompute = true, .shards = dice.once_in(2)}, dice);
    shuffle_rows(schedule, dice);
    if (!find_problems(schedule).empty()) continue;  // a pair was torn so that R follows its own backward
    StageCosts costs = random_costs(schedule.stages, dice);
    add_feature_costs(costs, dice);
    CAPTURE(seed);
    REQUIRE_EQ(disagreement(schedule, costs, random_link(dice), P2p::kOverlapped), "");
    deadlocks += find_deadlock(schedule) ? 1 : 0;
  }
  CHECK(deadlocks > kSeeds / 20);
  CHECK(deadlocks < kSeeds);
}

TEST_CASE("copies in any order are refused exactly where they would wait for ever") {
  int refused = 0;
  for (std::uint64_t seed = 2'300'001; seed < 2'300'001 + kSeeds; ++seed) {
    Dice dice(seed);
    Schedule schedule = random_schedule_with({.recompute = true, .copies = true}, dice);
    shuffle_copies(schedule, dice);
    StageCosts costs = random_costs(schedule.stages, dice);
    add_feature_costs(costs, dice);
    const HopFigures link = random_link(dice);
    CAPTURE(seed);
    const auto expected =
        reference::simulate(schedule, costs, link.latency, link.bandwidth, reference::Mode::kOverlapped);
    REQUIRE_EQ(has_problem(schedule, "T011"), expected.deadlock);
    if (!expected.deadlock) REQUIRE_EQ(disagreement(schedule, costs, link, P2p::kOverlapped), "");
    refused += expected.deadlock ? 1 : 0;
  }
  CHECK(refused > kSeeds / 20);
  CHECK(refused < kSeeds);
}
