// The cpu backend: what it says of itself, many devices, long runs, repetitions, its three clocks.
#include <ctime>

#include "live/backends.hpp"
#include "live/cpu/cores.hpp"
#include "sim/analysis/analyse.hpp"
#include "tests/live/agreement.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

double cpu_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

live::LiveRequest small_request(live::Clock clock) {
  const Schedule schedule = build("1f1b", 2, 4);
  StageCosts costs;
  costs.stages.assign(2, {});
  for (StageCost& cost : costs.stages) {
    cost.forward = 200'000, cost.backward = 400'000;
    cost.activation = cost.output = 1 << 16;
  }
  live::LiveRequest request = request_for(schedule, costs, {1'000, 0}, P2p::kOverlapped);
  request.clock = clock;
  request.repetitions = 2;
  request.warm_up = 1;
  return request;
}

// A report on a run that was measured: nothing in it is left over.
void check_sums(const live::LiveResult& result, const live::LiveRequest& request) {
  REQUIRE_EQ(result.iterations.size(), 2);
  for (const RunIteration& iteration : result.iterations) {
    CHECK(iteration.timeline.measured);
    const Report report = analyse(iteration.timeline, request.schedule, result.costs);
    for (const DeviceReport& device : report.devices) {
      CHECK(device.busy > 0);
      CHECK_EQ(device.busy + device.idle, report.makespan);
      CHECK(device.idle >= 0);
    }
  }
  for (const StageCost& cost : result.costs.stages) {
    CHECK(cost.forward > 0);
    CHECK(cost.backward > 0);
  }
  bool measured = false;
  for (const Assumption& each : result.assumptions)
    measured |= each.key == "op times" && each.source == Source::kMeasured;
  CHECK(measured);
}

}  // namespace

TEST_CASE("a run says who ran it, by which clock, and that all tensors were checked") {
  const Schedule schedule = build("1f1b", 4, 8);
  live::LiveRequest request = request_for(schedule, split_costs(schedule, 1, 1, 1), {}, P2p::kOverlapped);
  request.repetitions = 3;
  request.warm_up = 2;
  std::vector<std::string> told;
  const live::LiveResult result =
      live::run_on_cpu(request, [&](int, int, const std::string& what) { told.push_back(what); });
  CHECK_EQ(result.origin.backend, "cpu");
  CHECK_EQ(result.origin.clock, "logical");
  CHECK_FALSE(result.origin.device.empty());
  CHECK_FALSE(result.origin.libraries.empty());
  CHECK_EQ(result.clocks.method, "one clock");
  CHECK_EQ(result.iterations.size(), 3);
  CHECK_EQ(result.tensors_checked, 5 * 2 * 3 * 8);  // iterations, both ways, neighbours, microbatches
  CHECK_FALSE(result.stall.has_value());
  CHECK_FALSE(told.empty());
  for (const RunIteration& iteration : result.iterations) {
    CHECK_EQ(difference(iteration.timeline, result.iterations[0].timeline), "");
  }
}

TEST_CASE("sixty-four devices run as they are simulated") {
  const Schedule schedule = build("1f1b", 64, 64);
  CHECK_EQ(live_disagreement(schedule, toy_costs(schedule, 1, 2), {777, 0}, P2p::kOverlapped), "");
  CHECK_EQ(live_disagreement(schedule, toy_costs(schedule, 1, 2), {777, 0}, P2p::kBlocking), "");
}

TEST_CASE("many microbatches run as they are simulated, and many more than a link holds are under way") {
  const Schedule gpipe = build("gpipe", 3, 400);
  CHECK_EQ(live_disagreement(gpipe, toy_costs(gpipe, 1, 2), {5, 1'000'000'000}, P2p::kOverlapped), "");
  StageCosts slow_end = toy_costs(gpipe, 1, 2);
  slow_end.stages.back().forward *= 10;
  CHECK_EQ(live_disagreement(gpipe, slow_end, {}, P2p::kOverlapped), "");
}

TEST_CASE("tensors of no size, ops of no time, and a model larger than memory run too") {
  const Schedule schedule = build("zb-h1", 4, 6);
  StageCosts nothing;
  nothing.stages.assign(4, {});
  CHECK_EQ(live_disagreement(schedule, nothing, {}, P2p::kOverlapped), "");
  StageCosts huge = split_costs(schedule, 1, 1, 1);
  for (StageCost& cost : huge.stages) {
    cost.activation = cost.output = cost.weights = cost.workspace = Bytes{1} << 40;
    cost.weight_grad_held = Bytes{1} << 39;
  }
  CHECK_EQ(live_disagreement(schedule, huge, {}, P2p::kOverlapped), "");
}

TEST_CASE("eight devices with thirty-two microbatches take little CPU time on the logical clock") {
  const Schedule schedule = build("1f1b", 8, 32);
  const live::LiveRequest request = request_for(schedule, split_costs(schedule, 1, 1, 1), {}, P2p::kOverlapped);
  (void)live::run_on_cpu(request, {});  // loads the library
  const double before = cpu_milliseconds();
  (void)live::run_on_cpu(request, {});
  CHECK(cpu_milliseconds() - before < 1000);  // about 12 in a debug build: room for sanitizers
}

TEST_CASE("with the work's own CPU time as the clock, the sums of the report hold") {
  const live::LiveRequest request = small_request(live::Clock::kLogicalCpuTime);
  const live::LiveResult result = live::run_on_cpu(request, {});
  CHECK_EQ(result.origin.clock, "logical");
  check_sums(result, request);
}

TEST_CASE("on the wall clock the sums of the report hold, or the machine is too small and the run says so") {
  const live::LiveRequest request = small_request(live::Clock::kWall);
  const live::Cores cores = live::usable_cores();
  if (cores.usable() > 2) {
    const live::LiveResult result = live::run_on_cpu(request, {});
    CHECK_EQ(result.origin.clock, "wall");
    check_sums(result, request);
    return;
  }
  try {
    (void)live::run_on_cpu(request, {});
    FAIL("it ran");
  } catch (const UnavailableError& error) {
    CHECK_EQ(error.diagnostic().code, "U050");
    CHECK(contains(error.diagnostic().message, "needs 3 cores for 2 devices"));
    CHECK(contains(error.diagnostic().message, "may use " + std::to_string(cores.usable())));
  }
}

TEST_CASE("one device on the wall clock runs its stages one after the other") {
  const Schedule schedule = build("gpipe", 1, 2);
  StageCosts costs;
  costs.stages.assign(1, {});
  costs.stages[0].forward = costs.stages[0].backward = 300'000;
  costs.stages[0].activation = 1 << 14;
  live::LiveRequest request = request_for(schedule, costs, {}, P2p::kOverlapped);
  request.clock = live::Clock::kWall;
  if (live::usable_cores().usable() < 2) {
    MESSAGE("SKIPPED: one core");
    return;
  }
  const live::LiveResult result = live::run_on_cpu(request, {});
  REQUIRE_EQ(result.iterations.size(), 1);
  CHECK_EQ(result.iterations[0].timeline.spans.size(), 4);
  CHECK_EQ(result.iterations[0].peak_activation[0], 2 << 14);
}

TEST_CASE("a quota of a core and a half is one core, of less than one too, and none is none") {
  CHECK_EQ(live::cores_of_quota("150000 100000"), 1);
  CHECK_EQ(live::cores_of_quota("50000 100000"), 1);
  CHECK_EQ(live::cores_of_quota("400000 100000"), 4);
  CHECK_EQ(live::cores_of_quota("max 100000"), 0);
  CHECK_EQ(live::cores_of_quota("-1 100000"), 0);
  CHECK_EQ(live::cores_of_quota(""), 0);
}

TEST_CASE("times that a 64-bit count cannot hold are refused") {
  const Schedule schedule = build("1f1b", 2, 64);
  StageCosts costs = toy_costs(schedule, 1, 2);
  costs.stages[0].forward = kLongestDuration * 100;
  CHECK_EQ(first_problem([&] { (void)live::run_on_cpu(request_for(schedule, costs, {}, P2p::kOverlapped), {}); }).code,
           "X001");
}
