// Derivatives along all critical paths against runs with the cost one nanosecond larger or smaller.
#include "sim/engine/critical_graph.hpp"
#include "schedules/catalog.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/rows/check.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/random_interleaved.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

namespace debubble::testing {
namespace {

std::vector<Nanoseconds> plain_durations(const Program& program, const Schedule& schedule, const StageCosts& costs) {
  return varied_durations(program, schedule, costs, Variation{}, 0);
}

// What one unit of a stage's op adds to each node, where pieces are whole and pairs last as long as their members.
PartWeights weights_of(const Program& program, OpKind kind, std::int32_t stage) {
  PartWeights weights;
  weights.node_most.assign(program.nodes.size(), 0);
  for (std::size_t k = 0; k < program.nodes.size(); ++k) {
    if (program.nodes[k].is_transfer()) continue;
    const Program::Cell& cell = program.cells[program.nodes[k].cell()];
    if (cell.kind == kind && cell.stage == stage) weights.node_most[k] += 1;
    if (cell.paired && cell.partner_kind == kind && cell.partner_stage == stage) weights.node_most[k] += 1;
  }
  weights.node_least = weights.node_most;
  return weights;
}

PartWeights latency_of(const Program& program, std::int32_t from, std::int32_t to) {
  PartWeights weights;
  for (const Program::Channel& channel : program.channels) {
    weights.channel_most.push_back(channel.from_device == from && channel.to_device == to ? 1 : 0);
  }
  weights.channel_least = weights.channel_most;
  return weights;
}

// Whole microbatches and no duration of a pair's own, so that a nanosecond of a cost is one of each of its ops.
bool plain(const Schedule& schedule, const StageCosts& costs) {
  return schedule.pieces == 1 && !costs.overlapped_pair && !schedule.pairs_run_side_by_side;
}

Nanoseconds makespan(const Program& program, const StageCosts& costs, const HopFigures& link) {
  return simulate_totals(program, costs, Topology::ideal(link.latency, link.bandwidth)).makespan;
}

// Every cost that is large enough to be shrunk, times 1000 so that the nearest other path is farther than one step.
int compare_with_differences(const Schedule& schedule, StageCosts costs, HopFigures link, P2p p2p) {
  for (StageCost& cost : costs.stages) {
    for (Nanoseconds* each : {&cost.forward, &cost.backward, &cost.input_grad, &cost.weight_grad}) *each *= 100'000;
  }
  link.latency *= 100'000;
  const auto lowered = lower(schedule, p2p);
  const auto* program = std::get_if<Program>(&lowered);
  if (program == nullptr) return 0;
  const Topology topology = Topology::ideal(link.latency, link.bandwidth);
  const CriticalGraph graph(*program, costs, topology, plain_durations(*program, schedule, costs));
  const Nanoseconds base = makespan(*program, costs, link);
  REQUIRE_EQ(graph.makespan(), base);
  int compared = 0;
  for (std::int32_t stage = 0; stage < schedule.stages; ++stage) {
    for (const OpKind kind : {OpKind::kForward, OpKind::kBackward, OpKind::kInputGrad, OpKind::kWeightGrad}) {
      const OneSided found = graph.derivative(weights_of(*program, kind, stage));
      Nanoseconds& cost = duration_of(kind, costs.stages[static_cast<std::size_t>(stage)]);
      cost += 1;
      CHECK_EQ(found.growing, static_cast<double>(makespan(*program, costs, link) - base));
      cost -= 2;
      if (cost >= 0) CHECK_EQ(found.shrinking, static_cast<double>(base - makespan(*program, costs, link)));
      cost += 1;
      ++compared;
    }
  }
  return compared;
}

TEST_CASE("derivatives are those of finite differences, on both sides, over random pipelines") {
  int compared = 0;
  for (const P2p p2p : kEveryP2p) {
    for (std::uint64_t seed = 910'001; seed <= 910'200; ++seed) {
      Dice dice(seed);
      const Schedule schedule = random_schedule(dice);
      const StageCosts costs = random_costs(schedule.stages, dice);
      const HopFigures link = random_link(dice);
      if (!plain(schedule, costs)) continue;
      CAPTURE(seed);
      CAPTURE(name_of(p2p));
      compared += compare_with_differences(schedule, costs, {link.latency, 0}, p2p);
    }
  }
  CHECK(compared > 1000);
}

TEST_CASE("derivatives are those of finite differences, interleaved and coupled") {
  int compared = 0;
  for (std::uint64_t seed = 930'001; seed <= 930'060; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_interleaved(dice, true);
    const StageCosts costs = random_costs(schedule.stages, dice);
    const HopFigures link = random_link(dice);
    if (!find_problems(schedule).empty() || !plain(schedule, costs)) continue;
    CAPTURE(seed);
    compared += compare_with_differences(schedule, costs, {link.latency, 0}, P2p::kCoupled);
  }
  CHECK(compared > 200);
}

TEST_CASE("derivatives are those of finite differences for every schedule of the catalog") {
  int compared = 0;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CAPTURE(entry.name);
    for (const Schedule& schedule : schedules_of(entry, 3)) {
      CAPTURE(describe(schedule));
      if (schedule.pieces != 1 || schedule.pairs_run_side_by_side) continue;
      StageCosts costs = split_costs(schedule, 1, 1, 1);
      for (StageCost& cost : costs.stages) cost.backward = cost.input_grad + cost.weight_grad;
      compared += compare_with_differences(schedule, costs, {}, P2p::kOverlapped);
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("how often a hop stands on the path is what its latency adds") {
  const Schedule schedule = build("1f1b", 4, 8);
  const StageCosts costs = toy_costs(schedule, 1, 2);
  const auto lowered = lower(schedule, P2p::kOverlapped);
  const auto& program = std::get<Program>(lowered);
  const CriticalGraph graph(program, costs, Topology::ideal(kUnit / 8, 0), plain_durations(program, schedule, costs));
  double both_ways = 0;
  for (int d = 0; d + 1 < 4; ++d) {
    for (const auto& [from, to] : {std::pair{d, d + 1}, std::pair{d + 1, d}}) {
      const OneSided found = graph.derivative(latency_of(program, from, to));
      CHECK(found.growing >= found.shrinking);
      both_ways += found.growing;
    }
  }
  // All at once: the latency of every hop.
  PartWeights all;
  all.channel_most.assign(program.channels.size(), 1);
  all.channel_least = all.channel_most;
  const OneSided together = graph.derivative(all);
  CHECK(both_ways >= together.growing);
  const Nanoseconds base = makespan(program, costs, {kUnit / 8, 0});
  CHECK(together.growing == static_cast<double>(makespan(program, costs, {kUnit / 8 + 1, 0}) - base));
  CHECK(together.shrinking == static_cast<double>(base - makespan(program, costs, {kUnit / 8 - 1, 0})));
}

TEST_CASE("of equal stages several paths tie, and the derivative is one-sided") {
  // GPipe with equal passes: any stage may be the one that runs its microbatches without a break.
  const Schedule schedule = build("gpipe", 4, 8);
  const StageCosts costs = toy_costs(schedule, 1, 2);
  const auto lowered = lower(schedule, P2p::kOverlapped);
  const auto& program = std::get<Program>(lowered);
  const CriticalGraph graph(program, costs, Topology::ideal(0, 0), plain_durations(program, schedule, costs));
  for (std::int32_t stage = 0; stage < 4; ++stage) {
    const OneSided forward = graph.derivative(weights_of(program, OpKind::kForward, stage));
    CHECK(forward.growing == 8);    // all of its microbatches
    CHECK(forward.shrinking == 1);  // another stage runs them then
  }
}

TEST_CASE("the sum over all costs is the makespan: it is homogeneous in them") {
  for (std::uint64_t seed = 920'001; seed <= 920'100; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const StageCosts costs = random_costs(schedule.stages, dice);
    const auto lowered = lower(schedule, P2p::kOverlapped);
    const auto* program = std::get_if<Program>(&lowered);
    if (program == nullptr || !plain(schedule, costs)) continue;
    const auto durations = plain_durations(*program, schedule, costs);
    const CriticalGraph graph(*program, costs, Topology::ideal(0, 0), durations);
    // One unit of "everything": each node takes its own duration.
    PartWeights weights;
    weights.node_most.assign(durations.begin(), durations.end());
    weights.node_least = weights.node_most;
    const OneSided found = graph.derivative(weights);
    CAPTURE(seed);
    CHECK(found.growing == static_cast<double>(graph.makespan()));
    CHECK(found.shrinking == static_cast<double>(graph.makespan()));
  }
}

}  // namespace
}  // namespace debubble::testing
