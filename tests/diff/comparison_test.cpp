// Comparison on runs of the engine: what was changed on purpose is what gets the blame, to the nanosecond.
#include "sim/analysis/comparison.hpp"
#include "sim/rows/check.hpp"
#include "tests/diff/perturbed_run.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/random_interleaved.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

Comparison compared(const Schedule& schedule, P2p p2p, const EngineRun& predicted, const EngineRun& measured) {
  const TimedRun other{&measured.timeline, &measured.report};
  return compare(schedule, p2p, {&predicted.timeline, &predicted.report}, std::array{other}, 0);
}

Comparison compared(const Schedule& schedule, const EngineRun& predicted, const Timeline& measured,
                    const StageCosts& costs) {
  const Report report = analyse(measured, schedule, costs);
  const TimedRun other{&measured, &report};
  return compare(schedule, P2p::kOverlapped, {&predicted.timeline, &predicted.report}, std::array{other}, 0);
}

Nanoseconds by(const Comparison& comparison, GapCause cause) {
  return comparison.gap_by_cause[static_cast<std::size_t>(cause)];
}

// "" when the parts add up, in all and by cause.
std::string broken_sum(const Comparison& comparison) {
  Nanoseconds sum = 0;
  std::array<Nanoseconds, kGapCauses> causes{};
  for (const GapPart& part : comparison.parts) {
    sum += part.gap;
    causes[static_cast<std::size_t>(part.cause)] += part.gap;
  }
  if (sum != comparison.makespan.gap()) return "the parts do not add up to the gap";
  return causes == comparison.gap_by_cause ? "" : "the parts do not add up to their causes";
}

}  // namespace

TEST_CASE("a run compared with itself differs in nothing, in every mode of transfers") {
  int compared_runs = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const StageCosts costs = random_costs(schedule.stages, dice);
    const HopFigures link = random_link(dice);
    for (const P2p p2p : kEveryP2p) {
      const EngineRun run = run_engine(schedule, costs, link, p2p);
      if (run.deadlock) continue;
      CAPTURE(seed);
      CAPTURE(name_of(p2p));
      const Comparison comparison = compared(schedule, p2p, run, run);
      REQUIRE(comparison.parts.empty());
      REQUIRE_EQ(comparison.makespan.gap(), 0);
      REQUIRE_FALSE(comparison.first_divergence);
      REQUIRE_EQ(comparison.ops, static_cast<std::int64_t>(schedule.total_ops()));
      REQUIRE_EQ(comparison.transfers_matched, comparison.transfers);
      ++compared_runs;
    }
  }
  CHECK(compared_runs > 800);
}

TEST_CASE(
    "the parts add up to the gap for any two runs of one schedule, and simulated runs leave nothing unexplained") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const StageCosts costs = random_costs(schedule.stages, dice);
    const StageCosts other_costs = random_costs(schedule.stages, dice);
    const HopFigures link = random_link(dice);
    const HopFigures other_link = random_link(dice);
    for (const P2p p2p : kEveryP2p) {
      const EngineRun predicted = run_engine(schedule, costs, link, p2p);
      const EngineRun measured = run_engine(schedule, other_costs, other_link, p2p);
      if (predicted.deadlock || measured.deadlock) continue;
      CAPTURE(seed);
      CAPTURE(name_of(p2p));
      const Comparison comparison = compared(schedule, p2p, predicted, measured);
      REQUIRE_EQ(broken_sum(comparison), "");
      REQUIRE_EQ(by(comparison, GapCause::kUnexplained), 0);
      // Of ops and transfers that hold lanes one by one, and take no time at one instant, nobody can tell which was
      // first.
      const bool chained = p2p == P2p::kBlocking || p2p == P2p::kRendezvous;
      if (!chained) REQUIRE_EQ(by(comparison, GapCause::kLaunchGap), 0);
    }
  }
}

TEST_CASE("the parts add up, and nothing is unexplained, for interleaved runs with coupled transfers") {
  int compared_runs = 0;
  for (std::uint64_t seed = 2'800'001; seed <= 2'800'200; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_interleaved(dice, true);
    if (!find_problems(schedule).empty()) continue;  // neighbours were swapped
    const StageCosts costs = random_costs(schedule.stages, dice);
    const HopFigures link = random_link(dice);
    const EngineRun predicted = run_engine(schedule, costs, link, P2p::kCoupled);
    const EngineRun measured = run_engine(schedule, random_costs(schedule.stages, dice), link, P2p::kCoupled);
    if (predicted.deadlock || measured.deadlock) continue;
    CAPTURE(seed);
    const Comparison comparison = compared(schedule, P2p::kCoupled, predicted, measured);
    REQUIRE_EQ(broken_sum(comparison), "");
    REQUIRE_EQ(by(comparison, GapCause::kUnexplained), 0);
    REQUIRE_EQ(by(comparison, GapCause::kLaunchGap), 0);
    ++compared_runs;
  }
  CHECK(compared_runs > 60);
}

TEST_CASE("the parts add up, and nothing is unexplained, for interleaved runs with joined exchanges") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_groups(dice);
    const HopFigures link = random_link(dice);
    const EngineRun predicted = run_engine(schedule, random_costs(schedule.stages, dice), link, P2p::kJoined);
    const EngineRun measured = run_engine(schedule, random_costs(schedule.stages, dice), link, P2p::kJoined);
    CAPTURE(seed);
    const Comparison comparison = compared(schedule, P2p::kJoined, predicted, measured);
    REQUIRE_EQ(broken_sum(comparison), "");
    REQUIRE_EQ(by(comparison, GapCause::kUnexplained), 0);
    REQUIRE_EQ(by(comparison, GapCause::kLaunchGap), 0);
  }
}

TEST_CASE("one slower kind of op on one stage gets all the blame") {
  int slower = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    StageCosts costs = random_costs(schedule.stages, dice);
    costs.overlapped_pair = 1000;  // so that pairs stay as they are
    const HopFigures link = random_link(dice);
    const EngineRun predicted = run_engine(schedule, costs, link);
    const int stage = dice.from(0, schedule.stages - 1);
    costs.stages[static_cast<std::size_t>(stage)].forward += 5000;
    const EngineRun measured = run_engine(schedule, costs, link);
    CAPTURE(seed);
    const Comparison comparison = compared(schedule, P2p::kOverlapped, predicted, measured);
    REQUIRE_EQ(broken_sum(comparison), "");
    REQUIRE_EQ(by(comparison, GapCause::kOp), measured.timeline.makespan - predicted.timeline.makespan);
    for (const GapPart& part : comparison.parts) {
      REQUIRE_EQ(part.cause, GapCause::kOp);
      const bool is_partner = part.paired && part.partner.kind == OpKind::kForward && part.partner.stage == stage;
      if (!is_partner) REQUIRE_EQ(part.op.kind, OpKind::kForward);
      if (!is_partner) REQUIRE_EQ(part.op.stage, stage);
      REQUIRE_GT(part.measured, part.predicted);
    }
    if (!comparison.parts.empty()) ++slower;
  }
  CHECK(slower > 200);
}

TEST_CASE("a slower link gets all the blame") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const StageCosts costs = random_costs(schedule.stages, dice);
    HopFigures link = random_link(dice);
    const EngineRun predicted = run_engine(schedule, costs, link);
    link.latency = 3 * link.latency + 777;
    const EngineRun measured = run_engine(schedule, costs, link);
    CAPTURE(seed);
    const Comparison comparison = compared(schedule, P2p::kOverlapped, predicted, measured);
    REQUIRE_EQ(broken_sum(comparison), "");
    REQUIRE_EQ(by(comparison, GapCause::kTransfer), comparison.makespan.gap());
    for (const GapPart& part : comparison.parts) REQUIRE_EQ(part.cause, GapCause::kTransfer);
  }
}

TEST_CASE("another order of ops is an ordering gap, and the first op out of place is named") {
  const Schedule wanted = build("1f1b", 4, 8);
  Schedule ran = wanted;
  std::swap(ran.rows[1][6], ran.rows[1][7]);  // 1B2 before 1F5, which waits for it
  const StageCosts costs = toy_costs(wanted, 1, 2);
  const EngineRun predicted = run_engine(wanted, costs, {});
  const EngineRun measured = run_engine(ran, costs, {});
  REQUIRE_FALSE(measured.deadlock);
  const Comparison comparison = compared(wanted, P2p::kOverlapped, predicted, measured);
  CHECK_EQ(broken_sum(comparison), "");
  CHECK_NE(comparison.makespan.gap(), 0);
  CHECK_EQ(by(comparison, GapCause::kOrder), comparison.makespan.gap());
  REQUIRE(comparison.first_divergence);
  CHECK_EQ(comparison.first_divergence->kind, Divergence::Kind::kOrder);
  CHECK_EQ(comparison.first_divergence->device, 1);
  CHECK_EQ(to_string(comparison.first_divergence->op), to_string(ran.rows[1][6]));
  CHECK_EQ(to_string(comparison.first_divergence->expected), to_string(wanted.rows[1][6]));
}

TEST_CASE("an op that begins late of its own is a launch gap on its device, and the first divergence") {
  const Schedule schedule = build("1f1b", 4, 8);
  const StageCosts costs = toy_costs(schedule, 1, 2);
  const EngineRun predicted = run_engine(schedule, costs, {});
  const OpKey late{OpKind::kForward, 2, 0};
  const Timeline measured = perturbed(predicted.timeline, {{late, kUnit}}, {});
  const Comparison comparison = compared(schedule, predicted, measured, costs);
  CHECK_EQ(broken_sum(comparison), "");
  CHECK_EQ(comparison.makespan.gap(), kUnit);
  CHECK_EQ(by(comparison, GapCause::kLaunchGap), kUnit);
  REQUIRE_EQ(comparison.parts.size(), 1);
  CHECK_EQ(comparison.parts[0].device, 2);
  CHECK_EQ(comparison.parts[0].count, 1);
  REQUIRE(comparison.first_divergence);
  CHECK_EQ(comparison.first_divergence->kind, Divergence::Kind::kLaunchGap);
  CHECK_EQ(to_string(comparison.first_divergence->op), "2F0");
  CHECK_EQ(comparison.first_divergence->late, kUnit);
  CHECK_EQ(comparison.first_divergence->measured_begin, comparison.first_divergence->predicted_begin + kUnit);
}

TEST_CASE("random delays and durations of single ops are explained without a rest") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const StageCosts costs = random_costs(schedule.stages, dice);
    const EngineRun predicted = run_engine(schedule, costs, random_link(dice));
    Changes delays;
    Changes longer;
    for (const Span& span : predicted.timeline.spans) {
      if (dice.once_in(5)) delays[key_of(span.op)] = dice.from(0, 2000);
      if (dice.once_in(5)) longer[key_of(span.op)] = dice.from(0, 2000);
    }
    const Timeline measured = perturbed(predicted.timeline, delays, longer);
    CAPTURE(seed);
    const Comparison comparison = compared(schedule, predicted, measured, costs);
    REQUIRE_EQ(broken_sum(comparison), "");
    REQUIRE_EQ(by(comparison, GapCause::kUnexplained), 0);
    REQUIRE_EQ(by(comparison, GapCause::kOrder), 0);
    REQUIRE_EQ(by(comparison, GapCause::kTransfer), 0);
    REQUIRE_EQ(comparison.makespan.measured, measured.makespan);
  }
}

TEST_CASE("an op that begins before its input arrived leaves an unexplained part") {
  const Schedule schedule = build("gpipe", 2, 1);
  const StageCosts costs = toy_costs(schedule, 1, 1);
  const EngineRun predicted = run_engine(schedule, costs, {});
  Timeline measured = predicted.timeline;
  for (Span& span : measured.spans) {
    if (span.device == 1) span.begin -= 100, span.end -= 100;
  }
  for (Span& span : measured.spans) {
    if (span.op.kind == OpKind::kBackward && span.op.stage == 0) span.begin -= 100, span.end -= 100;
  }
  measured.makespan -= 100;
  for (Transfer& transfer : measured.transfers) {
    if (transfer.from_device == 1) transfer.begin -= 100, transfer.end -= 100;
  }
  const Comparison comparison = compared(schedule, predicted, measured, costs);
  CHECK_EQ(comparison.makespan.gap(), -100);
  CHECK_EQ(by(comparison, GapCause::kUnexplained), -100);
}

TEST_CASE("transfers that nobody saw are not matched and take the predicted time, wherever the maker ended") {
  const Schedule schedule = build("1f1b", 4, 8);
  const StageCosts costs = toy_costs(schedule, 1, 2);
  HopFigures link;
  link.latency = kUnit / 4;
  const EngineRun predicted = run_engine(schedule, costs, link);
  Timeline measured = perturbed(predicted.timeline, {}, {{{OpKind::kForward, 0, 0}, kUnit}});
  const Comparison seen = compared(schedule, predicted, measured, costs);
  CHECK_EQ(seen.transfers_matched, seen.transfers);
  for (Transfer& transfer : measured.transfers) transfer.end = transfer.begin, transfer.assumed = true;
  const Comparison comparison = compared(schedule, predicted, measured, costs);
  CHECK_EQ(comparison.transfers_matched, 0);
  CHECK_GT(comparison.transfers, 0);
  CHECK_EQ(broken_sum(comparison), "");
  CHECK_GT(comparison.makespan.gap(), 0);
  CHECK_EQ(by(comparison, GapCause::kOp), comparison.makespan.gap());
  CHECK_EQ(by(comparison, GapCause::kTransfer), 0);
}

TEST_CASE("of an op out of place and a late one the earlier is the first divergence") {
  const Schedule wanted = build("1f1b", 4, 8);
  Schedule ran = wanted;
  std::swap(ran.rows[1][6], ran.rows[1][7]);
  const StageCosts costs = toy_costs(wanted, 1, 2);
  const EngineRun predicted = run_engine(wanted, costs, {});
  const EngineRun swapped = run_engine(ran, costs, {});
  REQUIRE_FALSE(swapped.deadlock);
  const auto first = [&](const OpKey& late) {
    const Timeline measured = perturbed(swapped.timeline, {{late, kUnit}}, {});
    return compared(wanted, predicted, measured, costs).first_divergence;
  };
  const auto before = first({OpKind::kForward, 2, 0});
  REQUIRE(before);
  CHECK_EQ(before->kind, Divergence::Kind::kLaunchGap);
  CHECK_EQ(to_string(before->op), "2F0");
  const auto after = first({OpKind::kBackward, 3, 7});
  REQUIRE(after);
  CHECK_EQ(after->kind, Divergence::Kind::kOrder);
  CHECK_EQ(to_string(after->op), to_string(ran.rows[1][6]));
}

TEST_CASE("percentiles are over all iterations, the gap is of the chosen one") {
  const Schedule schedule = build("1f1b", 2, 4);
  const EngineRun predicted = run_engine(schedule, toy_costs(schedule, 1, 2), {});
  std::vector<EngineRun> runs;
  for (int i = 0; i < 11; ++i) runs.push_back(run_engine(schedule, toy_costs(schedule, 1 + 0.1 * i, 2), {}));
  std::vector<TimedRun> measured;
  for (const EngineRun& run : runs) measured.push_back({&run.timeline, &run.report});
  const Comparison comparison =
      compare(schedule, P2p::kOverlapped, {&predicted.timeline, &predicted.report}, measured, 3);
  CHECK_EQ(comparison.makespan.measured, runs[3].timeline.makespan);
  CHECK_EQ(comparison.makespan.low, runs[1].timeline.makespan);
  CHECK_EQ(comparison.makespan.high, runs[9].timeline.makespan);
  CHECK_EQ(broken_sum(comparison), "");
}

TEST_CASE("a run that lacks ops is refused with their names") {
  const Schedule schedule = build("1f1b", 2, 2);
  const StageCosts costs = toy_costs(schedule, 1, 2);
  const EngineRun predicted = run_engine(schedule, costs, {});
  EngineRun measured = predicted;
  for (Span& span : measured.timeline.spans) {
    if (to_string(span.op) == "1F1") span.op.kind = OpKind::kInputGrad;
  }
  std::string text;
  try {
    (void)compared(schedule, P2p::kOverlapped, predicted, measured);
  } catch (const InputError& error) {
    text = error.what();
  }
  CHECK_NE(text.find("D010"), std::string::npos);
  CHECK_NE(text.find("1 op of the predicted run is not in the measured one: 1F1"), std::string::npos);
  CHECK_NE(text.find("1 op of the measured run is not in the predicted one: 1I1"), std::string::npos);
}
