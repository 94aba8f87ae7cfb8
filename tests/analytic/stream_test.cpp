// Streams without a flush: their pace and the memory of their weight versions against formulas.
#include "sim/analysis/stream.hpp"

#include "sim/analysis/analyse.hpp"
#include "sim/rows/weight_versions.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr int kLong = 240;

Timeline timeline_of(const Schedule& schedule, const StageCosts& costs, Nanoseconds latency = 0) {
  return simulate(std::get<Program>(lower(schedule)), schedule, costs, Topology::ideal(latency, 0));
}

// Time per microbatch in the full pipeline.
double pace(const Schedule& schedule, const StageCosts& costs, Nanoseconds latency = 0) {
  const auto period = stream_period(timeline_of(schedule, costs, latency), schedule);
  REQUIRE(period.has_value());
  return period->per_microbatch();
}

StageCosts unequal(int stages, Dice& dice) {
  StageCosts costs;
  costs.stages.resize(static_cast<std::size_t>(stages));
  for (StageCost& cost : costs.stages) {
    cost.forward = dice.from(1, 40);
    cost.backward = dice.from(1, 40);
  }
  return costs;
}

}  // namespace

TEST_CASE("one engine: a microbatch every F + B of the slowest stage, equal or not") {
  Dice dice(1'400'001);
  for (const char* name : {"pipedream", "pipedream-2bw", "pipemare", "spectrain", "xpipe"}) {
    for (const int stages : {1, 2, 4, 7}) {
      CAPTURE(name);
      CAPTURE(stages);
      const auto schedule = build(name, stages, kLong);
      CHECK(pace(schedule, toy_costs(schedule, 1, 2)) == units(3));
      const StageCosts costs = unequal(stages, dice);
      Nanoseconds slowest = 0;
      for (const StageCost& cost : costs.stages) slowest = std::max(slowest, cost.forward + cost.backward);
      CHECK(pace(schedule, costs) == doctest::Approx(static_cast<double>(slowest)));
    }
  }
}

TEST_CASE("two engines: a sample every max(F, B) of the slowest stage") {
  Dice dice(1'400'002);
  for (const int stages : {1, 2, 4, 7}) {
    CAPTURE(stages);
    const auto schedule = build("pipelined-backprop", stages, kLong, 0, {{"turnaround", "1"}});
    CHECK(pace(schedule, toy_costs(schedule, 1, 2)) == units(2));
    CHECK(pace(schedule, toy_costs(schedule, 3, 2)) == units(3));
    const StageCosts costs = unequal(stages, dice);
    Nanoseconds slowest = 0;
    for (const StageCost& cost : costs.stages) slowest = std::max({slowest, cost.forward, cost.backward});
    CHECK(pace(schedule, costs) == doctest::Approx(static_cast<double>(slowest)));
    // Without a turn-around the last stage runs both in turn.
    const auto published = build("pipelined-backprop", stages, kLong);
    CHECK(pace(published, toy_costs(published, 1, 2)) == units(3));
    StageCosts light = toy_costs(published, 1, 2);
    light.stages.back().forward = light.stages.back().backward = units(0.5);
    if (stages > 1) CHECK(pace(published, light) == units(2));
  }
}

TEST_CASE(
    "shared stages: a microbatch every (F + B) / r of the slowest where their replicas divide those before, never "
    "sooner") {
  struct Case {
    int devices;
    const char* replicas;
    std::vector<int> passes;  // F of each stage; B takes twice as long
    bool divide;
  };
  for (const Case& one : std::vector<Case>{{4, "2,1,1", {2, 1, 1}, true},
                                           {4, "2,1,1", {3, 1, 1}, true},
                                           {4, "3,1", {3, 1}, true},
                                           {4, "2,2", {1, 1}, true},
                                           {6, "3,2,1", {3, 2, 1}, false},
                                           {7, "4,2,1", {4, 2, 1}, true},
                                           {8, "4,2,2", {2, 1, 1}, true},
                                           {3, "3", {2}, true},
                                           {4, "1,1,2", {1, 1, 2}, false},
                                           {6, "1,2,3", {1, 2, 3}, false},
                                           {6, "2,1,3", {1, 2, 1}, false}}) {
    const std::string replicas = one.replicas;
    CAPTURE(replicas);
    const auto schedule = build("pipedream", one.devices, kLong, 0, {{"replicas", replicas}});
    StageCosts costs;
    double slowest = 0;
    for (std::size_t s = 0; s < one.passes.size(); ++s) {
      StageCost cost;
      cost.forward = units(one.passes[s]);
      cost.backward = units(2.0 * one.passes[s]);
      costs.stages.push_back(cost);
      const int devices = weight_versions(schedule)[s].devices;
      slowest = std::max(slowest, static_cast<double>(cost.forward + cost.backward) / devices);
    }
    const double found = pace(schedule, costs);
    CHECK(found >= slowest);
    if (one.divide) CHECK(found == slowest);
  }
}

TEST_CASE("the pace is that of the full pipeline: warm-up and cool-down do not count, hops only where they bind") {
  const auto schedule = build("pipedream", 4, kLong);
  const StageCosts costs = toy_costs(schedule, 1, 1);
  const Timeline timeline = timeline_of(schedule, costs);
  CHECK(static_cast<double>(timeline.makespan) / kLong > units(2));
  CHECK(stream_period(timeline, schedule)->time == units(2));
  CHECK(stream_period(timeline, schedule)->microbatches == 1);
  // A microbatch is under way for 4F + 4B and six hops, and four of them are at a time.
  CHECK(pace(schedule, costs, units(0.5)) == units(2.75));
  // Too short to have a steady part: five microbatches on four devices.
  const auto brief = build("pipedream", 4, 5);
  CHECK_FALSE(stream_period(timeline_of(brief, costs), brief).has_value());
  StageCosts nothing = costs;
  for (StageCost& cost : nothing.stages) cost = {};
  CHECK_FALSE(stream_period(timeline_of(schedule, nothing), schedule).has_value());
}

TEST_CASE("every version and buffer beyond the first takes the stage's weights once more, and nothing else does") {
  struct Case {
    const char* name;
    Params params;
  };
  for (const Case& one : std::vector<Case>{{"pipedream", {}},
                                           {"pipedream", {{"replicas", "2,1,1"}}},
                                           {"pipedream-2bw", {}},
                                           {"pipemare", {}},
                                           {"pipemare", {{"correction", "off"}}},
                                           {"spectrain", {}},
                                           {"spectrain", {{"variant", "v2"}}},
                                           {"xpipe", {}},
                                           {"pipelined-backprop", {{"stash", "on"}}}}) {
    CAPTURE(one.name);
    const auto schedule = build(one.name, 4, 24, 0, one.params);
    StageCosts costs = toy_costs(schedule, 1, 1);
    for (std::size_t s = 0; s < costs.stages.size(); ++s) {
      costs.stages[s].weights = 1000 + 100 * static_cast<Bytes>(s);
      costs.stages[s].gradients = 7;
      costs.stages[s].optimizer = 11;
    }
    const Report report = analyse(timeline_of(schedule, costs), schedule, costs);
    const Totals totals = totals_of(schedule, costs);
    for (const StageVersions& stage : weight_versions(schedule)) {
      const StageCost& cost = costs.stages[static_cast<std::size_t>(stage.stage)];
      for (int route = 0; route < schedule.placement.replicas(); ++route) {
        const auto device = static_cast<std::size_t>(schedule.placement.device_of(route, stage.stage));
        CAPTURE(device);
        const BytesByCategory& bytes = report.devices[device].peak_by_category;
        CHECK(bytes[static_cast<std::size_t>(MemoryCategory::kWeights)] == cost.weights);
        CHECK(bytes[static_cast<std::size_t>(MemoryCategory::kGradients)] == 7);
        CHECK(bytes[static_cast<std::size_t>(MemoryCategory::kOptimizer)] == 11);
        CHECK(bytes[static_cast<std::size_t>(MemoryCategory::kExtraWeights)] ==
              (stage.live_versions - 1 + stage.extra_copies) * cost.weights);
        CHECK(totals.devices[device].peak_memory == report.devices[device].peak_memory);
        CHECK(report.devices[device].peak_memory == std::accumulate(bytes.begin(), bytes.end(), Bytes{0}));
      }
    }
  }
  const auto flushed = build("1f1b", 4, 24);
  CHECK(std::get<Program>(lower(flushed)).extra_weights.empty());
}

TEST_CASE("only reports of streams have a table of versions") {
  const auto stream = build("pipedream-2bw", 4, 8);
  const StageCosts costs = toy_costs(stream, 1, 1);
  const Report report = analyse(timeline_of(stream, costs), stream, costs);
  REQUIRE(report.stream.has_value());
  CHECK(report.stream->versions == "per-batch");
  CHECK(report.stream->update_every == 4);
  CHECK(report.stream->stages == weight_versions(stream));
  const auto flushed = build("1f1b", 4, 8);
  CHECK_FALSE(analyse(timeline_of(flushed, costs), flushed, costs).stream.has_value());
}
