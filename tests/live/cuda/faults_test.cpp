// What goes wrong on purpose, or by accident, is found and told: never a hang, never a wrong number.
#include "tests/live/cuda/small_run.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

live::LiveResult run_with_fault(const std::string& fault, bool graph = false, const std::string& schedule = "1f1b") {
  SmallRun run = small_run(build(schedule, 2, 4), graph);
  run.request.faults.push_back(live::parse_fault(fault, run.request.schedule));
  return run_small(run);
}

std::string wrong_data(const std::string& fault, bool graph = false, const std::string& schedule = "1f1b") {
  try {
    const live::LiveResult result = run_with_fault(fault, graph, schedule);
    return result.stall ? "stalled: " + result.stall->cause : "nothing was found";
  } catch (const live::WrongDataError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a lost message is reported with the place of every device, and nothing leaks") {
  const FakeMachine machine(kH200);
  for (const bool graph : {false, true}) {
    const live::LiveResult result = run_with_fault("drop=0F2", graph);
    REQUIRE(result.stall.has_value());
    CHECK_EQ(result.stall->cause, "a message was lost");
    REQUIRE_EQ(result.stall->devices.size(), 2);
    CHECK_EQ(to_string(result.stall->devices[1].op), "1F2");
    CHECK(contains(result.stall->devices[1].waits_for, "the activation 0F2 of device 0"));
    CHECK(result.iterations.empty());
  }
  CHECK_EQ(FakeMachine::live_objects(), 0);
  CHECK_EQ(FakeMachine::live_bytes(), 0);
}

TEST_CASE("a bit that changes on its way is found") {
  const FakeMachine machine(kH200);
  CHECK_EQ(wrong_data("corrupt=0F1"),
           "the activation 0F1 changed in transit from device 0 to device 1: its checksum differs");
  CHECK_EQ(wrong_data("corrupt=1B2", true),
           "the gradient 1B2 changed in transit from device 1 to device 0: its checksum differs");
}

TEST_CASE("ops that change places are found by their data") {
  const FakeMachine machine(kH200);
  // 1F0 1B0 1F1 ...: the gradient comes before its forward.
  CHECK_EQ(wrong_data("swap=1F0"), "1B0 did not find the activations of its own forward 1F0 in place");
}

TEST_CASE("a slow device takes longer, the others do not") {
  const FakeMachine machine(kH200);
  const live::LiveResult usual = run_small(small_run(build("1f1b", 2, 4)));
  const live::LiveResult slow = run_with_fault("slow=1:1.5");
  const auto busy = [](const live::LiveResult& result, int device) {
    Nanoseconds sum = 0;
    for (const Span& span : result.iterations.back().timeline.spans) {
      if (span.device == device) sum += span.end - span.begin;
    }
    return static_cast<double>(sum);
  };
  CHECK(busy(slow, 1) / busy(usual, 1) == doctest::Approx(1.5).epsilon(0.01));
  CHECK(busy(slow, 0) / busy(usual, 0) == doctest::Approx(1.0).epsilon(0.001));
}

TEST_CASE("a schedule that deadlocks is told before any GPU is touched") {
  const FakeMachine machine("error=100");  // no GPU at all
  SmallRun run = small_run(build("1f1b", 2, 2));
  auto& row = run.request.schedule.rows[0];  // 0F0 0F1 0B0 0B1
  std::swap(row[1], row[2]);
  std::swap(run.request.schedule.rows[1][0], run.request.schedule.rows[1][2]);  // 1F1 first
  std::swap(run.request.schedule.rows[1][1], run.request.schedule.rows[1][3]);
  const live::LiveResult result = run_small(run);
  REQUIRE(result.stall.has_value());
  CHECK_EQ(result.stall->cause, "deadlock");
  CHECK_FALSE(result.stall->devices[0].waits_for.empty());
  CHECK_FALSE(result.stall->devices[1].waits_for.empty());
}

TEST_CASE("a kernel that fails is an error with CUDA's name for it, and nothing leaks") {
  {
    const FakeMachine machine("idle,processors=132,fail_run=gelu_backward");
    CHECK_THROWS_WITH_AS(run_small(small_run(build("gpipe", 2, 2))), doctest::Contains("CUDA_ERROR_ILLEGAL_ADDRESS"),
                         UnavailableError);
  }
  for (const bool graph : {false, true}) {
    const FakeMachine machine("idle,processors=132,fail_launch=gelu_backward");
    CHECK_THROWS_WITH_AS(run_small(small_run(build("gpipe", 2, 2), graph)),
                         doctest::Contains("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"), UnavailableError);
  }
  const FakeMachine machine(kH200);
  CHECK_EQ(FakeMachine::live_objects(), 0);
  CHECK_EQ(FakeMachine::live_bytes(), 0);
}
