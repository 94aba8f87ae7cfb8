// Copies to the host where the topology has hosts: flows over an uplink that GPUs of one machine share, out and back on
// engines of their own.
#include "sim/engine/cluster.hpp"
#include "tests/support/cluster_promises.hpp"
#include "tests/support/hand_built_cluster.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr Nanoseconds kRounding = 2;  // ends of flows are rounded up, in another order where they meet otherwise

Topology one_machine(int gpus, std::int64_t uplink) {
  MachineSizes sizes;
  sizes.gpus = gpus;
  sizes.inner = 1'000'000'000'000'000;
  sizes.inner_latency = 0;
  sizes.host = uplink;
  return lay(machines(sizes), gpus);
}

// Two devices, two microbatches; a forward takes 100, a backward 200; all activations of 150 bytes go to the host.
std::vector<Timeline> offloaded_within(const Topology& topology, Nanoseconds copy,
                                       const std::vector<Bytes>& capacities) {
  Schedule schedule = build("gpipe", 2, 2);
  for (std::int32_t device : {0, 1}) {
    schedule.copies.push_back({{Copy::Way::kOut, device, 0, -1, -1},
                               {Copy::Way::kOut, device, 1, -1, -1},
                               {Copy::Way::kBack, device, 0, -1, -1},
                               {Copy::Way::kBack, device, 1, -1, -1}});
  }
  StageCost stage;
  stage.forward = 100;
  stage.backward = 200;
  stage.activation = 150;
  stage.copy = copy;
  StageCosts costs;
  costs.stages.assign(2, stage);
  const Program program = std::get<Program>(lower(schedule));
  ClusterOptions options;
  options.capacities = capacities;
  return simulate_cluster(program, schedule, costs, topology, options);
}

Timeline offloaded(const Topology& topology, Nanoseconds copy) {
  Timeline timeline = offloaded_within(topology, copy, {}).front();
  REQUIRE_EQ(broken_timeline(timeline), "");
  return timeline;
}

std::string times_of(const Timeline& timeline, int device) {
  std::string text;
  for (const CopySpan& copy : timeline.copies) {
    if (copy.device != device) continue;
    text += (text.empty() ? "" : " ") + std::to_string(copy.begin) + "-" + std::to_string(copy.end);
  }
  return text;
}

}  // namespace

TEST_CASE("copies of two GPUs share their host's uplink, and each way has its own") {
  const Timeline timeline = offloaded(one_machine(2, 1'000'000'000), 10);  // a byte per nanosecond
  // Out: device 0's first alone to 200, then both get half of the link until the last one is alone again at 600.
  CHECK_EQ(times_of(timeline, 0), "100-300 300-600 300-450 600-900");
  CHECK_EQ(times_of(timeline, 1), "200-500 500-700 500-700 700-950");
  CHECK_EQ(order_of(build("gpipe", 2, 2), 1), "F0 F1 B1 B0");
  CHECK_EQ(timeline.makespan, 950 + 3 * 200);
}

TEST_CASE("an uplink with room for all leaves copies as long as their stage says") {
  const Timeline timeline = offloaded(one_machine(2, 1'000'000'000'000), 90);
  CHECK_EQ(times_of(timeline, 0), "100-190 200-290 190-280 290-380");
  CHECK_EQ(times_of(timeline, 1), "200-290 300-390 290-380 390-480");
}

TEST_CASE("without hosts copies take one lane, as in the walk") {
  const Timeline timeline = offloaded(lay(line_of(2, 1'000'000'000, 0), 2), 90);
  CHECK_EQ(times_of(timeline, 0), "100-190 200-290 290-380 380-470");
}

TEST_CASE("random copies over a host's uplink keep every promise, and a slower uplink is never better") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    Schedule schedule = random_schedule_with({.recompute = true, .copies = true}, dice);
    for (auto& lane : schedule.copies) {
      for (Copy& copy : lane) copy.peer = -1;
    }
    StageCosts costs = random_costs(schedule.stages, dice);
    add_feature_costs(costs, dice);
    const Program program = std::get<Program>(lower(schedule));
    Nanoseconds before = 0;
    for (const std::int64_t uplink : {100'000'000'000'000LL, 1'000'000'000LL, 10'000'000LL}) {
      const Topology topology = one_machine(schedule.devices, uplink);
      const Timeline timeline = simulate_cluster(program, schedule, costs, topology, {}).front();
      REQUIRE_EQ(broken_timeline(timeline), "");
      REQUIRE_GE(timeline.makespan + kRounding, before);
      before = timeline.makespan;
    }
  }
}

TEST_CASE("a run stops where copies leave more on a device than it has, and only there") {
  const Topology slow = one_machine(2, 1'000'000'000);  // a copy of 150 bytes takes longer than a forward
  CHECK(offloaded_within(slow, 0, {299}).empty());      // both activations, before the first has left
  CHECK_FALSE(offloaded_within(slow, 0, {300}).empty());
  CHECK(offloaded_within(slow, 0, {300, 299}).empty());
  CHECK_FALSE(offloaded_within(slow, 0, {0}).empty());
  const Topology fast = one_machine(2, 1'000'000'000'000);
  CHECK_FALSE(offloaded_within(fast, 0, {300}).empty());
  CHECK(offloaded_within(fast, 0, {149}).empty());
}
