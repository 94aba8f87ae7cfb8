// The checks for a machine with a GPU, on the fake one: what they find is how the fake is made.
#include "profiler/measurement/gpu_checks.hpp"

#include "profiler/measurement/kernel_spans.hpp"
#include "tests/support/test.hpp"
#include "tests/workload/fake_machine.hpp"

namespace debubble {
namespace {

using testing::FakeMachine;

void ignore(int, int, const std::string&) {}

const GpuCheck& check_called(const std::vector<GpuCheck>& checks, std::string_view name) {
  for (const GpuCheck& check : checks) {
    if (check.name == name) return check;
  }
  FAIL("no check " << std::string(name));
  return checks.front();
}

std::int64_t figure(const GpuCheck& check, const std::string& name) {
  for (const GpuFigure& one : check.figures) {
    if (one.name == name) return one.value;
  }
  FAIL("no figure " << name);
  return 0;
}

std::vector<GpuCheck> run(int kernels = 100, DataType type = DataType::kFp16) {
  GpuCheckOptions options;
  options.kernels = kernels;
  options.types = {type};
  return run_gpu_checks(options, ignore);
}

TEST_CASE("the checks find how the fake GPU is made") {
  const FakeMachine machine("idle");
  const std::vector<GpuCheck> checks = run();
  CHECK(checks.size() == 6);
  for (const GpuCheck& check : checks) {
    CAPTURE(check.name);
    CAPTURE(check.remark);
    CHECK(check.passed.value_or(true) == (check.name != "numbers"));  // nothing is computed here
    CHECK(!check.question.empty());
    CHECK(!check.figures.empty());
  }
  const GpuCheck& times = check_called(checks, "timestamps");
  CHECK(figure(times, "granularity") == testing::kFakeTick);
  CHECK(figure(times, "least_gap_on_one_stream") == testing::kFakeGap);
  CHECK(figure(times, "median_gap_on_one_stream") == testing::kFakeGap);
  CHECK(figure(times, "least_gap_across_streams") == testing::kFakeCrossGap);
  const GpuCheck& contexts = check_called(checks, "contexts");
  CHECK(figure(contexts, "contexts") == 1);
  CHECK(figure(contexts, "streams") == 2);
  CHECK(figure(contexts, "kernels") == 404);
  const GpuCheck& durations = check_called(checks, "durations");
  CHECK(figure(durations, "by_records") == 500'000);
  CHECK(figure(durations, "by_events") == 500'000 + testing::kFakeGap);
  const GpuCheck& memory = check_called(checks, "memory");
  CHECK(figure(memory, "asked") == figure(memory, "taken"));
  CHECK(figure(memory, "left_after_release") == 0);
  const GpuCheck& overhead = check_called(checks, "overhead");
  CHECK(figure(overhead, "kernels") == 100);
  CHECK(figure(overhead, "launch_without_profiler") > 0);
  CHECK(FakeMachine::live_objects() == 0);
  CHECK(FakeMachine::live_bytes() == 0);
}

TEST_CASE("a GPU that computes rightly passes the check of its numbers") {
  const FakeMachine machine;
  const std::vector<GpuCheck> checks = run(10);
  const GpuCheck& numbers = check_called(checks, "numbers");
  CAPTURE(numbers.remark);
  CHECK(numbers.passed == true);
  CHECK(numbers.remark.empty());
  CHECK(figure(numbers, "fp16_checks") > 10);
  CHECK(figure(numbers, "fp16_worst_of_tolerance") <= 1'000'000);
}

TEST_CASE("a check that fails is there with its reason, and the others are made") {
  const FakeMachine machine("idle,fail_launch=debubble_hold");
  const std::vector<GpuCheck> checks = run(10);
  for (const char* name : {"timestamps", "contexts", "durations"}) {
    const GpuCheck& check = check_called(checks, name);
    CHECK(check.passed == false);
    CHECK(contains(check.remark, "the kernel debubble_hold failed"));
  }
  CHECK(check_called(checks, "memory").passed == true);
}

TEST_CASE("without a GPU the checks are not begun") {
  const FakeMachine machine("error=100");
  CHECK_THROWS_AS(run(), UnavailableError);
}

TEST_CASE("granularity is the largest step that fits all times, gaps are counted between neighbours of one name") {
  const std::vector<KernelSpan> spans{{"a", 1, 7, 1000, 1640},
                                      {"a", 1, 7, 2280, 2600},
                                      {"b", 1, 7, 2920, 3240},
                                      {"a", 1, 7, 4000, 4320},
                                      {"a", 1, 7, 4384, 4400}};
  CHECK(granularity(spans) == 8);
  CHECK(granularity({spans[0], spans[1]}) == 320);
  CHECK(granularity({}) == 0);
  CHECK(gaps(spans, "a") == std::vector<Nanoseconds>{64, 640});
  CHECK(gaps(spans, "b").empty());
}

}  // namespace
}  // namespace debubble
