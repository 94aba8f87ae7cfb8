// What ops and links took by stage and by link, and when a link counts as slow: both sides of each bound.
#include "sim/analysis/comparison.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr Nanoseconds kHop = 1000;

EngineRun four_devices() {
  const Schedule schedule = build("1f1b", 4, 8);
  HopFigures link;
  link.latency = kHop;
  return run_engine(schedule, toy_costs(schedule, 1, 2), link);
}

// `steps` steps, of which in `slow` the transfers from device 2 to 3 take `time`.
std::vector<Timeline> steps_with(const Timeline& usual, std::size_t steps, std::size_t slow, Nanoseconds time) {
  std::vector<Timeline> all(steps, usual);
  for (std::size_t k = 0; k < slow; ++k) {
    for (Transfer& transfer : all[k].transfers) {
      if (transfer.from_device == 2 && transfer.to_device == 3) transfer.end = transfer.begin + time;
    }
  }
  return all;
}

LinkDurations link_of(const Timeline& predicted, const std::vector<Timeline>& steps, std::int32_t from,
                      std::int32_t to) {
  std::vector<const Timeline*> measured;
  for (const Timeline& one : steps) measured.push_back(&one);
  for (const LinkDurations& link : link_durations(predicted, measured, 0)) {
    if (link.from == from && link.to == to) return link;
  }
  return {};
}

}  // namespace

TEST_CASE("a link is slow from one and a half times the others on, and not below") {
  const EngineRun run = four_devices();
  const auto link = [&](Nanoseconds time) {
    return link_of(run.timeline, steps_with(run.timeline, 10, 10, time), 2, 3);
  };
  CHECK(link(1500).is_slow(10, 0));
  CHECK_FALSE(link(1499).is_slow(10, 0));
  CHECK_EQ(link(3000).factor(), doctest::Approx(3.0));
  CHECK_EQ(link(3000).others, kHop);
  CHECK_EQ(link(3000).duration.predicted, kHop);
  CHECK_EQ(link(3000).duration.measured, 3000);
  CHECK_EQ(link(3000).count, 80);
  const LinkDurations back = link_of(run.timeline, steps_with(run.timeline, 10, 10, 3000), 3, 2);
  CHECK_FALSE(back.is_slow(10, 0));
}

TEST_CASE("a link is slow only by more than clocks may differ, and in nine of ten steps") {
  const EngineRun run = four_devices();
  const LinkDurations always = link_of(run.timeline, steps_with(run.timeline, 10, 10, 3000), 2, 3);
  CHECK(always.is_slow(10, 1999));
  CHECK_FALSE(always.is_slow(10, 2000));
  CHECK(link_of(run.timeline, steps_with(run.timeline, 10, 9, 3000), 2, 3).is_slow(10, 0));
  CHECK_FALSE(link_of(run.timeline, steps_with(run.timeline, 10, 8, 3000), 2, 3).is_slow(10, 0));
}

TEST_CASE("transfers of another size say nothing of a link") {
  const EngineRun run = four_devices();
  std::vector<Timeline> steps = steps_with(run.timeline, 2, 2, 3000);
  for (Timeline& step : steps) {
    for (Transfer& transfer : step.transfers) transfer.bytes = transfer.from_device == 2 ? 4096 : 1024;
  }
  const LinkDurations link = link_of(run.timeline, steps, 2, 3);
  CHECK_EQ(link.bytes, 4096);
  CHECK(link.is_slow(2, 0));  // against 2 to 1
  for (Timeline& step : steps) {
    for (Transfer& transfer : step.transfers) transfer.bytes = transfer.to_device == 3 ? 4096 : 1024;
  }
  CHECK_EQ(link_of(run.timeline, steps, 2, 3).others, 0);
  CHECK_FALSE(link_of(run.timeline, steps, 2, 3).is_slow(2, 0));
}

TEST_CASE("transfers that nobody saw are of no link") {
  const EngineRun run = four_devices();
  std::vector<Timeline> steps = steps_with(run.timeline, 2, 0, 0);
  for (Transfer& transfer : steps[1].transfers) transfer.assumed = transfer.to_device == 3;
  CHECK_EQ(link_of(run.timeline, steps, 2, 3).count, 0);
  CHECK_EQ(link_of(run.timeline, steps, 1, 2).count, 16);
}

TEST_CASE("ops are told by stage and kind: what was assumed, the step's median, and all steps' spread") {
  const EngineRun run = four_devices();
  std::vector<Timeline> steps(2, run.timeline);
  for (Span& span : steps[1].spans) {
    if (span.op.stage == 1 && span.op.kind == OpKind::kForward) span.end += kUnit / 2;
  }
  const std::vector<const Timeline*> measured{&steps[0], &steps[1]};
  const std::vector<OpDurations> ops = op_durations(run.timeline, measured, 1);
  REQUIRE_EQ(ops.size(), 8);  // F and B of four stages
  for (const OpDurations& one : ops) {
    const bool forward = one.op.kind == OpKind::kForward;
    const Nanoseconds usual = forward ? kUnit : 2 * kUnit;
    const Nanoseconds slow = forward && one.op.stage == 1 ? kUnit + kUnit / 2 : usual;
    CHECK_EQ(one.device, one.op.stage);
    CHECK_EQ(one.count, 8);
    CHECK_EQ(one.duration.predicted, usual);
    CHECK_EQ(one.duration.measured, slow);
    CHECK_EQ(one.duration.low, usual);
    CHECK_EQ(one.duration.high, slow);
  }
}

TEST_CASE("a transfer that begins late of its own is a wait of its link") {
  const Schedule schedule = build("gpipe", 2, 1);
  const StageCosts costs = toy_costs(schedule, 1, 1);
  HopFigures link;
  link.latency = kHop;
  const EngineRun predicted = run_engine(schedule, costs, link);
  Timeline measured = predicted.timeline;
  for (Transfer& transfer : measured.transfers) transfer.begin += 100, transfer.end += 100;
  for (Transfer& transfer : measured.transfers) {
    if (transfer.from_device == 1) transfer.begin += 100, transfer.end += 100;
  }
  for (Span& span : measured.spans) {
    if (span.device == 1) span.begin += 100, span.end += 100;
    if (span.device == 0 && span.op.kind == OpKind::kBackward) span.begin += 200, span.end += 200;
  }
  measured.makespan += 200;
  const Report report = analyse(measured, schedule, costs);
  const TimedRun other{&measured, &report};
  const Comparison comparison =
      compare(schedule, P2p::kOverlapped, {&predicted.timeline, &predicted.report}, {&other, 1}, 0);
  CHECK_EQ(comparison.makespan.gap(), 200);
  REQUIRE_EQ(comparison.parts.size(), 2);
  for (const GapPart& part : comparison.parts) {
    CHECK_EQ(part.cause, GapCause::kWait);
    CHECK_EQ(part.gap, 100);
    CHECK_EQ(part.predicted, 0);
    CHECK_EQ(part.measured, 100);
    CHECK_EQ(part.device + part.to_device, 1);
  }
}
