// Placement of stages on unequal devices and links: brute force over every order and every cut, and large jobs.
#include "studies/planners/placement.hpp"
#include "studies/planners/catalog.hpp"
#include "studies/planners/stages.hpp"
#include "tests/planners/jobs.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

// Two or three types, links of their own between every pair, memory for some.
PlannerJob uneven_job(Draws& draws, int layers, int devices) {
  PlannerJob job = random_chain(draws, layers, devices);
  job.types = {{"quick", 1, 0, 0}, {"slow", 1.5, 0, 0}, {"slowest", 0.5 * draws.whole(4, 6), 0, 0}};
  if (draws.whole(0, 2) == 0) {
    for (PlannerDeviceType& type : job.types) type.memory = Bytes{1'000'000} * draws.whole(100, 400);
  }
  for (int& type : job.devices) type = draws.whole(0, 2);
  job.links.assign(job.devices.size() * job.devices.size(), 1);
  for (int one = 0; one < devices; ++one) {
    for (int other = 0; other < one; ++other) {
      const std::int64_t bandwidth = draws.whole(1, 8) * std::int64_t{250'000'000};
      job.links[static_cast<std::size_t>(one * devices + other)] = bandwidth;
      job.links[static_cast<std::size_t>(other * devices + one)] = bandwidth;
    }
  }
  job.microbatches = draws.whole(1, 9);
  return job;
}

// The shortest step that fits, of all ordered choices of devices and all cuts.
Nanoseconds shortest_of_all(const PlannerJob& job) {
  Nanoseconds best = std::numeric_limits<Nanoseconds>::max();
  PlannerDecision decision;
  const std::function<void(int)> add = [&](int begin) {
    if (begin == job.layer_count()) {
      const DecisionWorth worth = decision_worth(job, decision);
      if (worth.fits) best = std::min(best, worth.step);
      return;
    }
    for (int device = 0; device < job.device_count(); ++device) {
      const bool used = std::any_of(decision.stages.begin(), decision.stages.end(),
                                    [&](const PlannerStage& stage) { return stage.devices.front() == device; });
      for (int end = begin + 1; !used && end <= job.layer_count(); ++end) {
        decision.stages.push_back({begin, end, 1, {device}});
        add(end);
        decision.stages.pop_back();
      }
    }
  };
  add(0);
  return best;
}

TEST_CASE("the order of few devices and the cuts are the best of all, and said to be") {
  Draws draws(7);
  int fitting = 0;
  for (int run = 0; run < 150; ++run) {
    CAPTURE(run);
    const PlannerJob job = uneven_job(draws, draws.whole(2, 6), draws.whole(1, 4));
    const Nanoseconds best = shortest_of_all(job);
    if (best == std::numeric_limits<Nanoseconds>::max()) {
      CHECK(problems_of([&] { static_cast<void>(place_stages(job, 0)); }).starts_with("error[Z002]"));
      continue;
    }
    ++fitting;
    const DevicePlacement placed = place_stages(job, 0);
    CHECK(placed.worth.step == best);
    CHECK(placed.exact);
    PlannerDecision decision;
    decision.stages = placed.stages;
    CHECK(decision_worth(job, decision).step == best);
  }
  CHECK(fitting > 100);
}

TEST_CASE("links in machines: equal devices that are joined alike are tried once, and nothing is missed") {
  Draws draws(11);
  for (int run = 0; run < 40; ++run) {
    CAPTURE(run);
    PlannerJob job = random_chain(draws, draws.whole(4, 6), 4);
    job.levels = {{2, 20'000'000'000}, {2, 300'000'000}};
    job.types.push_back({"slow", 2, 0, 0});
    job.devices[static_cast<std::size_t>(draws.whole(0, 3))] = 1;
    job.microbatches = draws.whole(1, 8);
    const DevicePlacement placed = place_stages(job, 0);
    CHECK(placed.worth.step == shortest_of_all(job));
    CHECK(placed.exact);
  }
}

TEST_CASE("many devices are never placed worse than in the order given, and not said to be the best") {
  Draws draws(13);
  int better = 0;
  for (int run = 0; run < 12; ++run) {
    CAPTURE(run);
    PlannerJob job = uneven_job(draws, draws.whole(24, 40), draws.whole(12, 20));
    for (PlannerDeviceType& type : job.types) type.memory = 0;
    PlannerDecision given;
    const LeastLargest cuts =
        least_largest(0, job.layer_count(), job.device_count(), [&](int stage, int begin, int end) {
          return stage_time(job, PlannerSums(job), begin, end, job.devices[static_cast<std::size_t>(stage)]);
        });
    given.stages = stages_of_cuts(cuts.cuts, job.layer_count());
    const DevicePlacement placed = place_stages(job, 0);
    const Nanoseconds before = decision_worth(job, given).step;
    CHECK(placed.worth.step <= before);
    better += placed.worth.step < before ? 1 : 0;
    CHECK(!placed.exact);
  }
  CHECK(better > 6);
}

TEST_CASE("devices in the order given keep it, and one that slows everybody down is left idle") {
  PlannerJob job = equal_devices(3, 10'000'000'000);
  set_layers(job, std::vector<LayerRow>(8, LayerRow{1, 2, 0, 0, 0}));
  job.types.push_back({"very slow", 50, 0, 0});
  job.devices = {0, 1, 0};
  job.microbatches = 32;
  for (const char* const text : {"debubble:replicas=no", "debubble:replicas=no,given-order=yes"}) {
    const PlannerDecision decision = decide(parse_planner(text), job);
    REQUIRE(decision.stages.size() == 2);
    CHECK(decision.stages[0].devices == std::vector<int>{0});
    CHECK(decision.stages[1].devices == std::vector<int>{2});
    CHECK(decision.stages[0].end == 4);
    CHECK(decision.predicted == 33 * 12e6);
  }
  CHECK(decide(parse_planner("debubble:stages=3,replicas=no"), job).stages.size() == 3);
}

TEST_CASE("in the order given a stage may be on a later device though an earlier one is like it") {
  PlannerJob job = equal_devices(3, 10'000'000'000);
  set_layers(job, {LayerRow{1, 2, 0, 0, 0}, LayerRow{1, 2, 0, 0, 0}});
  job.types.front().time_factor = 4;
  job.types.push_back({"quick", 1, 0, 0});
  job.devices = {0, 1, 0};
  job.microbatches = 8;
  const PlannerDecision decision = decide(parse_planner("debubble:stages=2,replicas=no,given-order=yes"), job);
  REQUIRE(decision.stages.size() == 2);
  PlannerDecision other = decision;
  for (const auto& [first, second] : std::vector<std::pair<int, int>>{{0, 1}, {0, 2}, {1, 2}}) {
    other.stages[0].devices = {first};
    other.stages[1].devices = {second};
    CHECK(decision_worth(job, decision).step <= decision_worth(job, other).step);
  }
}

TEST_CASE("debubble is never worse than another planner's stages") {
  Draws draws(17);
  int better = 0;
  for (int run = 0; run < 25; ++run) {
    CAPTURE(run);
    PlannerJob job = random_chain(draws, draws.whole(4, 10), 6);
    job.levels = {{3, 20'000'000'000}, {2, 1'000'000'000}};
    job.microbatches = draws.whole(1, 12);
    Nanoseconds best = std::numeric_limits<Nanoseconds>::max();
    Nanoseconds own = best;
    for (const PlannerEntry& planner : planner_catalog()) {
      const auto worth = worth_if_decided(planner, job);
      if (!worth || planner.name == "pipedream-2bw") continue;  // that one changes microbatches, too
      Nanoseconds& step = planner.name == "debubble" ? own : best;
      step = std::min(step, worth->step);
    }
    CHECK(own <= best);
    better += own < best ? 1 : 0;
  }
  CHECK(better > 5);
}

TEST_CASE("debubble tries replicas, too") {
  PlannerJob job = equal_devices(4, 10'000'000'000);
  set_layers(job, std::vector<LayerRow>(3, LayerRow{1, 2, 0, 1e6, 0}));
  job.microbatches = 4;
  // Three stages take (4 + 2) 3 ms and two of them 5 x 6 ms; replicas share every microbatch.
  const PlannerDecision decision = decide("debubble", job);
  REQUIRE(decision.stages.size() == 1);
  CHECK(decision.stages[0].replicas == 4);
  CHECK(decision.predicted == 4 * 9e6 / 4 + 2 * 3 / 4.0 * 3e6 / 10);
  CHECK(problems_of([&] {
          static_cast<void>(decide(parse_planner("debubble:stages=5"), job));
        }).starts_with("error[C012]"));
}

}  // namespace
}  // namespace debubble::testing
