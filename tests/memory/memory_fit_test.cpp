// Whether a run fits, where, and by which op it fails: small runs worked out by hand.
#include "sim/analysis/memory_fit.hpp"

#include "sim/core/at.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

namespace debubble::testing {
namespace {

constexpr Bytes kMany = 64 * kMebibyte;

// F takes 1, B takes 2; an activation is 64 MiB in `tensors` pieces, weights 32 MiB.
StageCosts costs_of(const Schedule& schedule, int tensors) {
  StageCosts costs = toy_costs(schedule, 1, 2);
  for (StageCost& stage : costs.stages) {
    stage.activation = kMany;
    stage.activation_tensors = tensors;
    stage.weights = 32 * kMebibyte;
    stage.gradients = stage.optimizer = stage.output = stage.workspace = 0;
  }
  return costs;
}

std::vector<DeviceMemory> devices_of(const Schedule& schedule, const StageCosts& costs,
                                     const std::vector<Bytes>& capacities, AllocatorKind kind) {
  const EngineRun run = run_engine(schedule, costs, {});
  REQUIRE_FALSE(run.deadlock.has_value());
  return device_memories(run.timeline, schedule, costs, capacities, kind);
}

TEST_CASE("1F1B on two devices: the first holds two microbatches, the second one") {
  const Schedule schedule = build("1f1b", 2, 4);
  const StageCosts costs = costs_of(schedule, 1);
  const auto devices = devices_of(schedule, costs, {200 * kMebibyte}, AllocatorKind::kExact);
  CHECK(devices.at(0).allocated == 160 * kMebibyte);
  CHECK(devices.at(0).reserved == 160 * kMebibyte);
  CHECK(to_string(devices.at(0).op) == "0F1");
  CHECK(devices.at(0).at == units(1));
  CHECK(devices.at(1).allocated == 96 * kMebibyte);
  const MemoryFit fit = memory_fit(devices);
  CHECK(fit.device == 0);
  CHECK(fit.spare == 40 * kMebibyte);
  CHECK(fit.capacity == 200 * kMebibyte);
}

TEST_CASE("out of memory names the op that asks first, and what it would have taken") {
  const Schedule schedule = build("1f1b", 2, 4);
  const auto devices = devices_of(schedule, costs_of(schedule, 1), {128 * kMebibyte}, AllocatorKind::kExact);
  CHECK_FALSE(devices.at(0).fits);
  CHECK(to_string(devices.at(0).op) == "0F1");
  CHECK(devices.at(0).at == units(1));
  CHECK(devices.at(0).missing == kMany);
  CHECK(devices.at(1).fits);
  const MemoryFit fit = memory_fit(devices);
  CHECK(fit.device == 0);
  CHECK(fit.spare == -32 * kMebibyte);
}

TEST_CASE("of several devices that fail the one that lacks most is named, whichever fails first") {
  const Schedule schedule = build("1f1b", 2, 4);
  const StageCosts costs = costs_of(schedule, 1);
  // Both fail after one unit: the first with its second F, and lacks 30 MiB, the second with its first, and lacks 32.
  for (const AllocatorKind kind : {AllocatorKind::kExact, AllocatorKind::kCaching}) {
    const auto devices = devices_of(schedule, costs, {130 * kMebibyte, 64 * kMebibyte}, kind);
    const MemoryFit fit = memory_fit(devices);
    CHECK(fit.device == 1);
    CHECK(fit.spare == -32 * kMebibyte);
    CHECK(to_string(fit.op) == "1F0");
    CHECK(fit.capacity == 64 * kMebibyte);
  }
  // The second fails first of all, with its weights; the first later, and lacks more.
  const auto devices = devices_of(schedule, costs, {40 * kMebibyte, 31 * kMebibyte}, AllocatorKind::kExact);
  CHECK(devices.at(1).at < devices.at(0).at + 1);
  CHECK(memory_fit(devices).device == 0);
  CHECK(memory_fit(devices).spare == -120 * kMebibyte);
  CHECK(memory_fit({}).capacity == 0);
}

TEST_CASE("weights alone can be too much: before anything runs") {
  const Schedule schedule = build("1f1b", 2, 4);
  const auto devices = devices_of(schedule, costs_of(schedule, 1), {16 * kMebibyte}, AllocatorKind::kCaching);
  CHECK_FALSE(devices.at(0).fits);
  CHECK(devices.at(0).op.empty());
  CHECK(devices.at(0).at == 0);
  CHECK(devices.at(0).missing == 32 * kMebibyte);
}

// 64 MiB in 7 tensors of 9.14 MiB: two fit into a segment of 20 MiB, so a microbatch takes three and a half.
TEST_CASE("tensors that do not fill their segments make more reserved than allocated") {
  const Schedule schedule = build("1f1b", 2, 4);
  const auto devices = devices_of(schedule, costs_of(schedule, 7), {0}, AllocatorKind::kCaching);
  CHECK(devices.at(0).allocated == 160 * kMebibyte);
  CHECK(devices.at(0).reserved == (32 + 7 * 20) * kMebibyte);
  CHECK(devices.at(1).allocated == 96 * kMebibyte);
  CHECK(devices.at(1).reserved == (32 + 4 * 20) * kMebibyte);
}

// A random run of many features: levels agree with the report, and the allocator never takes less.
TEST_CASE("random runs: exact levels are the report's peaks, and an allocator takes at least as much") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    const Features features{dice.once_in(2), dice.once_in(2), false, dice.once_in(2), dice.once_in(2), false};
    const Schedule schedule = random_schedule_with(features, dice);
    StageCosts costs = random_costs(schedule.stages, dice);
    add_feature_costs(costs, dice);
    const EngineRun run = run_engine(schedule, costs, random_link(dice));
    if (run.deadlock) continue;
    const auto exact = device_memories(run.timeline, schedule, costs, {0}, AllocatorKind::kExact);
    const auto cached = device_memories(run.timeline, schedule, costs, {0}, AllocatorKind::kCaching);
    for (std::size_t d = 0; d < exact.size(); ++d) {
      CHECK(exact[d].allocated == run.report.devices[d].peak_memory);
      CHECK(exact[d].reserved == exact[d].allocated);
      CHECK(cached[d].reserved >= cached[d].allocated);
      ++compared;
    }
  }
  CHECK(compared > 300);
}

TEST_CASE("the quick verdict is the whole one, which is of the device that lacks most") {
  int fitting = 0;
  int failing = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    const Features features{dice.once_in(2), dice.once_in(2), false, dice.once_in(2), dice.once_in(2), false};
    const Schedule schedule = random_schedule_with(features, dice);
    StageCosts costs = random_costs(schedule.stages, dice);
    add_feature_costs(costs, dice);
    const EngineRun run = run_engine(schedule, costs, random_link(dice));
    if (run.deadlock) continue;
    const auto free = device_memories(run.timeline, schedule, costs, {0}, AllocatorKind::kCaching);
    const Bytes capacity = 2 * kMebibyte + free[to_index(dice.from(0, run.timeline.devices - 1))].reserved;
    const auto all = device_memories(run.timeline, schedule, costs, {capacity}, AllocatorKind::kCaching);
    const MemoryFit whole = memory_fit(all);
    const DeviceMemory& device = all[to_index(whole.device)];
    CHECK(whole.spare == device.spare());
    CHECK(device.fits == (whole.spare >= 0));
    for (const DeviceMemory& one : all) CHECK(one.spare() >= whole.spare);
    const auto any = memory_fit_if_any(run.timeline, schedule, costs, {capacity}, AllocatorKind::kCaching);
    REQUIRE_EQ(any.has_value(), device.fits);
    if (any) CHECK(any->spare == whole.spare);
    if (any) CHECK(any->device == whole.device);
    ++(device.fits ? fitting : failing);
  }
  CHECK(fitting > 50);
  CHECK(failing > 20);
}

}  // namespace
}  // namespace debubble::testing
