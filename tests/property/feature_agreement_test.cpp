// Random schedules that hold more than F, B, I and W of equal pieces: the engine and the reference simulator agree on
// every time to the nanosecond, on every peak to the byte and on every deadlock, and every promise of the report holds.
#include "sim/rows/check.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

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
