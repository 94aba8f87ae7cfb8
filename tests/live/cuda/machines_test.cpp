// Machines that are not what is needed, and those that are otherwise than usual.
#include "live/cuda/clocks.hpp"
#include "live/cuda/gpu_parts.hpp"
#include "tests/live/cuda/small_run.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

std::string refusal(const SmallRun& run) {
  try {
    static_cast<void>(run_small(run));
  } catch (const UnavailableError& error) {
    return error.diagnostic().code + " " + error.diagnostic().message;
  } catch (const InputError& error) {
    std::string text;
    for (const Diagnostic& each : error.diagnostics()) text += each.code + " " + each.message + "; ";
    return text;
  }
  return "it ran";
}

}  // namespace

TEST_CASE("a GPU that cannot be cut into so many parts says so") {
  const SmallRun run = small_run(build("gpipe", 4, 4));
  {
    const FakeMachine machine("idle,processors=24");
    CHECK_EQ(refusal(run), "U060 this GPU of 24 processors cannot be cut into 4 parts: a part has at least 8");
  }
  {
    const FakeMachine machine("idle,processors=132,most_parts=3");
    CHECK_EQ(refusal(run), "U060 this GPU of 132 processors cannot be cut into 4 parts: the driver gives 3");
  }
  {
    const FakeMachine machine("idle,no_green");
    CHECK(refusal(run).starts_with("U060 this GPU and its driver have no green contexts: CUDA_ERROR_NOT_SUPPORTED"));
  }
  const FakeMachine machine;
  CHECK_EQ(FakeMachine::live_objects(), 0);
}

TEST_CASE("an older driver profiles and does not run schedules") {
  const FakeMachine machine;
  auto libraries = std::make_shared<CudaLibraries>(*load_cuda_libraries());
  CHECK(libraries->driver.missing_for_live.empty());
  libraries->driver.missing_for_live = "cuGreenCtxCreate, cuGreenCtxDestroy";
  CHECK_THROWS_WITH_AS((void)live::GpuParts::split(libraries, 0, 2),
                       doctest::Contains("lacks cuGreenCtxCreate, cuGreenCtxDestroy"), UnavailableError);
}

TEST_CASE("a model that does not fit is an error with sizes") {
  const FakeMachine machine("idle,processors=132,memory=134300000");
  CHECK(refusal(small_run(build("gpipe", 4, 64))).starts_with("U026 out of device memory"));
  CHECK_EQ(FakeMachine::live_bytes(), 0);
}

TEST_CASE("partitions, microbatches and modes that cannot be are refused together with the reason") {
  const FakeMachine machine(kH200);
  SmallRun run = small_run(build("gpipe", 2, 2));
  run.options.partition = {1, 1, 2};
  CHECK(refusal(run).starts_with("L005 the schedule has 2 stages; the partition gives 3"));
  run.options.partition = {1, 1};
  CHECK(refusal(run).starts_with("L006 the stages have 2 layers together; small-gpt has 4"));
  run = small_run(build("gpipe", 2, 2));
  run.request.p2p = P2p::kCoupled;
  CHECK(refusal(run).starts_with("E003"));
  run.request.p2p = P2p::kOverlapped;
  run.request.faults.push_back(live::parse_fault("kill=0F0", run.request.schedule));
  CHECK(refusal(run).starts_with("E003"));
}

TEST_CASE("a driver that cannot wait for a value holds the gate with a kernel") {
  const FakeMachine machine("idle,processors=132,no_wait_value");
  const live::LiveResult result = run_small(small_run(build("1f1b", 2, 4)));
  CHECK_FALSE(result.stall.has_value());
  CHECK_EQ(result.iterations.size(), 2);
}

TEST_CASE("a driver that fails to wait for a value is not taken for one that cannot") {
  const FakeMachine machine("idle,processors=132,fail_wait");
  CHECK(contains(refusal(small_run(build("1f1b", 2, 4))), "holding a stream back"));
}

TEST_CASE("clocks that drift between two readings are put right in between and beyond") {
  const live::ClockFit fit({1000, {0, 500}, 3}, {2000, {0, 600}, 4});
  CHECK_EQ(fit.to_common(0, 1234), 1234);
  CHECK_EQ(fit.to_common(1, 500), 1000);   // at the first reading
  CHECK_EQ(fit.to_common(1, 1000), 1550);  // half way
  CHECK_EQ(live::ClockFit({1000, {0, 500}, 3}, {}).to_common(1, 1000), 1500);
  CHECK_EQ(live::ClockFit().to_common(1, 77), 77);
}

TEST_CASE("one GPU per device copies between peers") {
  SmallRun run = small_run(build("1f1b", 2, 4));
  run.options.one_gpu_each = true;
  {
    const FakeMachine machine("idle,gpus=2");
    const live::LiveResult result = run_small(run);
    CHECK_FALSE(result.stall.has_value());
    CHECK_EQ(result.iterations.size(), 2);
    CHECK(result.tensors_checked > 0);
  }
  {
    const FakeMachine machine("idle,gpus=2,no_peers");
    CHECK(refusal(run).starts_with("U060"));
  }
  {
    const FakeMachine machine("idle,gpus=1");
    CHECK(refusal(run).starts_with("U021"));
  }
  const FakeMachine machine;
  CHECK_EQ(FakeMachine::live_objects(), 0);
}
