// What simulators of other people got wrong, each with the right behaviour: times, bubbles and deadlocks.
#include "sim/rows/check.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/reference_orders.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

StageCosts thousand_each(const Schedule& schedule) {
  StageCost cost;
  cost.forward = cost.input_grad = cost.weight_grad = 1'000;
  cost.backward = 2'000;
  StageCosts costs;
  costs.stages.assign(static_cast<std::size_t>(schedule.stages), cost);
  return costs;
}

}  // namespace

TEST_CASE("peers: a whole backward is charged for its weight gradient too") {
  // One peer gave 22,000 here: the weight half of a fused backward was never charged, with one chunk or several.
  const Schedule plain = build("1f1b", 4, 8);
  CHECK(totals_of(plain, thousand_each(plain)).makespan == 33'000);
  const Schedule chunked = build("interleaved", 4, 8, 2);
  CHECK(totals_of(chunked, thousand_each(chunked)).makespan == 57'000);
}

TEST_CASE("peers: a gradient is handed on at the end of a whole backward, not halfway through") {
  const Schedule schedule = build("gpipe", 2, 1);
  const EngineRun run = run_engine(schedule, thousand_each(schedule), {10, 0});
  // F 0-1000, hop, F 1010-2010, B 2010-4010, hop, B 4020-6020
  CHECK(run.timeline.makespan == 6'020);
}

TEST_CASE("peers: a weight gradient is never sent, so latency does not touch it") {
  const Schedule schedule = build("zb-h1", 8, 64);
  const EngineRun run = run_engine(schedule, split_costs(schedule, 1, 1, 1), {units(0.01), 0});
  CHECK(run.report.p2p_messages == 2 * 7 * 64);
  for (const Transfer& transfer : run.timeline.transfers) CHECK(transfer.op.kind != OpKind::kWeightGrad);
  for (const Span& span : run.timeline.spans) {
    if (span.op.kind == OpKind::kWeightGrad) CHECK(span.gate.kind == Gate::Kind::kSpan);
  }
  // A peer that charged W for a hop gave 199.85 units for this order, others 199.28.
  CHECK_EQ(mismatch(schedule, split_costs(schedule, 1, 1, 1), {units(0.01), 0}, units(199.28)), "");
}

TEST_CASE("peers: unequal stages are idle time of the other devices, not a bubble of 100 percent") {
  // Stage 0 takes three times as long as the others. A peer divided by the mean stage and printed 1.0.
  const Schedule schedule = build("1f1b", 4, 8);
  StageCosts costs = toy_costs(schedule, 1, 2);
  costs.stages[0].forward = units(3);
  costs.stages[0].backward = units(6);
  const EngineRun run = run_engine(schedule, costs, {});
  const auto rules = reference::simulate(schedule, costs, 0, 0, reference::Mode::kOverlapped);
  CHECK(run.report.makespan == rules.makespan);
  CHECK(run.report.makespan == units(8 * 9));  // the slow stage never waits: its four forwards cover the round trip
  const double busy = static_cast<double>(units(72 + 3 * 24));
  const double total = 4.0 * static_cast<double>(rules.makespan);
  CHECK(run.report.bubble_ratio == doctest::Approx(1 - busy / total));
  CHECK(run.report.bubble_over_ideal == doctest::Approx(total / busy - 1));
  CHECK(run.report.devices[0].idle == 0);
  for (std::size_t d = 1; d < 4; ++d) CHECK(run.report.devices[d].idle == units(72 - 24));
}

TEST_CASE("peers: a schedule whose sends cannot happen is a deadlock that names its cycle, never a success") {
  // A peer ended with exit code 0 and no result. Device 0 wants its gradient before it has sent what that needs.
  Schedule schedule = build("1f1b", 2, 2);
  schedule.rows[0] = {reference::make_op(OpKind::kForward, 0, 0), reference::make_op(OpKind::kBackward, 0, 0),
                      reference::make_op(OpKind::kForward, 0, 1), reference::make_op(OpKind::kBackward, 0, 1)};
  schedule.rows[1] = {reference::make_op(OpKind::kForward, 1, 0), reference::make_op(OpKind::kForward, 1, 1),
                      reference::make_op(OpKind::kBackward, 1, 0), reference::make_op(OpKind::kBackward, 1, 1)};
  for (const P2p p2p : kEveryP2p) {
    const auto lowered = lower(schedule, p2p);
    REQUIRE(std::holds_alternative<Deadlock>(lowered));
    const Deadlock& deadlock = std::get<Deadlock>(lowered);
    CHECK_EQ(broken_cycle(deadlock, schedule), "");
    CHECK(deadlock.cycle.size() == 2);
    const std::string text = to_string(deadlock);
    CHECK(contains(text, "device 0"));
    CHECK(contains(text, "0B0"));
    CHECK(contains(text, "1F1"));
  }
}

TEST_CASE("peers: rows in reverse on one device are found out before anything runs") {
  Schedule schedule = build("1f1b", 4, 4);
  std::reverse(schedule.rows[2].begin(), schedule.rows[2].end());
  CHECK_FALSE(find_problems(schedule).empty());
}

TEST_CASE("peers: every op of a split backward is compute, input gradients included") {
  const Schedule schedule = build("zb-h1", 4, 8);
  const EngineRun run = run_engine(schedule, split_costs(schedule, 1, 1, 1), {});
  CHECK(run.timeline.spans.size() == 4 * 8 * 3);
  for (const Span& span : run.timeline.spans) CHECK(span.end - span.begin == units(1));
  for (const DeviceReport& device : run.report.devices) CHECK(device.busy == units(24));
}

TEST_CASE("peers: blocking transfers are not the default, and cost what they hold") {
  // A peer charged every hop to the compute lane of a 1F1B run: 234 instead of 214 units.
  const Schedule schedule = build("1f1b", 8, 64);
  const StageCosts costs = toy_costs(schedule, 1, 2);
  const Program program = std::get<Program>(lower(schedule));
  CHECK(program.p2p == P2p::kOverlapped);
  CHECK(run_engine(schedule, costs, {units(0.01), 0}).totals.makespan == units(214.24));
  CHECK(run_engine(schedule, costs, {units(0.01), 0}, P2p::kBlocking).totals.makespan > units(214.24));
}
