// Why devices are idle, where it follows from the shape of the schedule: every gap has a known cause and length.
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

Nanoseconds idle(const DeviceReport& device, IdleCause cause) {
  return device.idle_by_cause[static_cast<std::size_t>(cause)];
}

// Bandwidth at which one output of kOutput bytes takes `time` units to leave.
constexpr Bytes kOutput = 1'440'000;
std::int64_t bandwidth_for(Nanoseconds time) { return kOutput * 1'000'000'000 / time; }

// The first stage is twice as slow as the others, so that these always wait for what arrives and never for themselves.
StageCosts slow_first_stage(const Schedule& schedule) {
  StageCosts costs = toy_costs(schedule, 1, 2);
  costs.stages[0].forward = units(2);
  costs.stages[0].backward = units(4);
  for (StageCost& cost : costs.stages) cost.output = kOutput;
  return costs;
}

}  // namespace

TEST_CASE("idle: without latency, 1F1B with equal stages waits only while it fills and drains") {
  for (int p = 1; p <= 6; ++p) {
    for (int m = p; m <= 3 * p; ++m) {
      const Schedule schedule = build("1f1b", p, m);
      const Report report = run_engine(schedule, toy_costs(schedule, 1, 2), {}).report;
      for (const DeviceReport& device : report.devices) {
        CAPTURE(p);
        CAPTURE(m);
        CAPTURE(device.device);
        REQUIRE(device.idle == units(3.0 * (p - 1)));
        REQUIRE(idle(device, IdleCause::kFill) + idle(device, IdleCause::kDrain) == device.idle);
      }
      // The last device waits p-1 forwards for its first op and has p-1 backwards of others behind its last.
      REQUIRE(idle(report.devices.back(), IdleCause::kFill) == units(p - 1.0));
      REQUIRE(idle(report.devices.back(), IdleCause::kDrain) == units(2.0 * (p - 1)));
    }
  }
}

TEST_CASE("idle: GPipe's first device waits for one pass down and up, and for the hops on the way") {
  for (int p = 2; p <= 6; ++p) {
    const Schedule schedule = build("gpipe", p, 8);
    const DeviceReport device = run_engine(schedule, slow_first_stage(schedule), {units(0.1), 0}).report.devices[0];
    CAPTURE(p);
    CHECK(idle(device, IdleCause::kFill) == (p - 1) * units(3));
    CHECK(idle(device, IdleCause::kTransferLatency) == 2 * (p - 1) * units(0.1));
    CHECK(device.idle == (p - 1) * (units(3) + 2 * units(0.1)));
  }
}

TEST_CASE("idle: time on a slow link is told from its latency") {
  for (int p = 2; p <= 6; ++p) {
    const Schedule schedule = build("gpipe", p, 8);
    const HopFigures link{units(0.1), bandwidth_for(units(0.2))};
    const DeviceReport device = run_engine(schedule, slow_first_stage(schedule), link).report.devices[0];
    CAPTURE(p);
    CHECK(idle(device, IdleCause::kTransferLatency) == 2 * (p - 1) * units(0.1));
    CHECK(idle(device, IdleCause::kTransferBandwidth) == 2 * (p - 1) * units(0.2));
    CHECK(idle(device, IdleCause::kFill) == (p - 1) * units(3));
  }
}

TEST_CASE("idle: a device that feeds a slower one waits for it in between, which is dependency") {
  const Schedule schedule = build("1f1b", 2, 16);
  StageCosts costs = toy_costs(schedule, 1, 2);
  costs.stages[1].forward = units(2);
  costs.stages[1].backward = units(4);
  const Report report = run_engine(schedule, costs, {}).report;
  const DeviceReport& fast = report.devices[0];
  CHECK(report.makespan == units(1 + 16 * 6 + 2));
  CHECK(fast.idle == units(99 - 48));
  // B k starts at 7 + 6k and F k+2 follows it; the gaps of 3 before B1..B13 stand between first backward and last
  // forward, those before B14 (3) and B15 (4) behind its last forward.
  CHECK(idle(fast, IdleCause::kFill) == units(5));
  CHECK(idle(fast, IdleCause::kDependency) == units(13 * 3));
  CHECK(idle(fast, IdleCause::kDrain) == units(7));
  CHECK(idle(report.devices[1], IdleCause::kFill) == units(1));
  CHECK(idle(report.devices[1], IdleCause::kDrain) == units(2));
}

TEST_CASE("idle: with overlapped links nothing is a collective, a straggler, a memory limit or a launch gap") {
  const Schedule schedule = build("interleaved", 4, 8, 2);
  for (const DeviceReport& device :
       run_engine(schedule, slow_first_stage(schedule), {units(0.3), bandwidth_for(units(0.1))}).report.devices) {
    for (const IdleCause cause :
         {IdleCause::kCollective, IdleCause::kStraggler, IdleCause::kMemoryLimit, IdleCause::kLaunchGap}) {
      CHECK(idle(device, cause) == 0);
    }
  }
}
