// The live CUDA backend over every driver and every refusal that fake_drivers.hpp knows.
#include "live/cuda/gpu_parts.hpp"
#include "tests/live/cuda/small_run.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// What one split must give for -p 1 to 8: the largest whole number of steps that fits as often as asked.
struct RealGpu {
  std::string_view name;
  const char* behaviour;
  std::array<std::int32_t, 8> processors;
};
constexpr std::array<RealGpu, 3> kRealGpus{
    {{"H100 SXM and H200", "idle,processors=132,capability=90", {132, 64, 40, 32, 24, 16, 16, 16}},
     {"H100 PCIe", "idle,processors=114,capability=90", {114, 56, 32, 24, 16, 16, 16, 8}},
     {"A100", "idle,processors=108,capability=80", {108, 54, 36, 26, 20, 18, 14, 12}}}};

std::vector<std::int32_t> sizes_of(const live::GpuParts& parts) {
  std::vector<std::int32_t> sizes;
  for (const live::GpuPart& part : parts.parts()) sizes.push_back(part.processors);
  return sizes;
}

Diagnostic outcome_of(const SmallRun& run) {
  try {
    (void)run_small(run);
  } catch (const UnavailableError& error) {
    return error.diagnostic();
  }
  return {};
}

std::string all_notes(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

}  // namespace

TEST_CASE("H100 and A100 are cut for every -p from 1 to 8 into the same parts by every driver") {
  for (const FakeDriver& driver : kFakeDrivers) {
    for (const RealGpu& gpu : kRealGpus) {
      const FakeMachine machine(driver, gpu.behaviour);
      for (int count = 1; count <= 8; ++count) {
        CAPTURE(driver.version);
        CAPTURE(driver.source);
        CAPTURE(gpu.name);
        CAPTURE(count);
        if (!driver.lacks.empty()) {
          CHECK_THROWS_WITH_AS((void)live::GpuParts::split(load_cuda_libraries(), 0, count),
                               doctest::Contains(("lacks " + std::string(driver.lacks)).c_str()), UnavailableError);
          continue;
        }
        std::vector<std::int32_t> sizes;
        CHECK_NOTHROW(sizes = sizes_of(*live::GpuParts::split(load_cuda_libraries(), 0, count)));
        CHECK_EQ(sizes,
                 std::vector(static_cast<std::size_t>(count), gpu.processors[static_cast<std::size_t>(count - 1)]));
      }
    }
  }
  CHECK_EQ(FakeMachine::live_objects(), 0);
}

TEST_CASE("a driver that does not tell its granularity is noted, with what was taken instead") {
  const auto notes = [](const std::string& behaviour) {
    const FakeMachine machine(behaviour);
    return all_notes(live::GpuParts::split(load_cuda_libraries(), 0, 4)->notes());
  };
  const std::string old = ",driver=12060,libraries=12060";
  CHECK_NE(notes("idle,processors=132" + old).find("at least 8, in steps of 8"), std::string::npos);
  CHECK_NE(notes("idle,processors=108,capability=80" + old).find("at least 4, in steps of 2"), std::string::npos);
  CHECK_EQ(notes("idle,processors=132").find("in steps of"), std::string::npos);
}

TEST_CASE("where a split gives fewer parts than asked, the parts become smaller until there are enough") {
  const auto split = [](const std::string& behaviour, int count) {
    const FakeMachine machine(behaviour);
    return live::GpuParts::split(load_cuda_libraries(), 0, count);
  };
  // 132 processors of which 20 cannot be used: 7 parts of 16, so 8 are of 8.
  CHECK_EQ(sizes_of(*split("idle,processors=132,unusable=20", 8)), std::vector<std::int32_t>(8, 8));
  CHECK_EQ(sizes_of(*split("idle,processors=132,unusable=20,driver=12060,libraries=12060", 2)),
           std::vector<std::int32_t>(2, 56));
  CHECK_THROWS_WITH_AS((void)split("idle,processors=132,unusable=76", 8), doctest::Contains("the driver gives 7"),
                       UnavailableError);
}

TEST_CASE("whole runs agree on every driver that has green contexts") {
  for (const FakeDriver& driver : kFakeDrivers) {
    if (!driver.lacks.empty()) continue;
    CAPTURE(driver.version);
    const FakeMachine machine(driver, kH200);
    const live::LiveResult result = run_small(small_run(build("1f1b", 3, 4)));
    CHECK_FALSE(result.stall.has_value());
    CHECK_EQ(result.iterations.size(), 2);
    CHECK_NE(all_notes(result.origin.notes).find("one split of 132 processors: 40, 40, 40"), std::string::npos);
  }
}

TEST_CASE("what a driver refuses is told with a code, CUDA's name and what helps, and nothing is left behind") {
  for (const FakeRefusal& refusal : kFakeRefusals) {
    CAPTURE(refusal.function);
    CAPTURE(refusal.result);
    CAPTURE(refusal.source);
    {
      const FakeMachine machine("idle,processors=132,gpus=2,refuse=" + std::string(refusal.function) + ":" +
                                std::to_string(refusal.result));
      SmallRun run = small_run(build("1f1b", 2, 2));
      run.options.one_gpu_each = refusal.function == "cuCtxEnablePeerAccess";
      const Diagnostic found = outcome_of(run);
      CHECK_EQ(found.code, refusal.code);
      CHECK_NE(found.message.find(refusal.message), std::string::npos);
      CHECK_NE(found.help.find(refusal.help), std::string::npos);
    }
    CHECK_EQ(FakeMachine::live_objects(), 0);
  }
}
