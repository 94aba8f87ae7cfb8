#include "profiler/workload/self_check.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "profiler/workload/kernels.hpp"
#include "tests/workload/cuda_shim.hpp"
#include "tests/workload/host_device.hpp"

namespace debubble {
namespace {

using test::HostDevice;

void check_all(DataType type) {
  HostDevice device(type);
  double worst = 0;
  const auto checks = check_workload(device, type);
  CHECK(checks.size() == 140);
  for (const NumberCheck& check : checks) {
    CAPTURE(check.what);
    CAPTURE(check.error);
    CHECK(check.ok);
    CHECK(check.ok == (check.error <= check.tolerance));
    worst = std::max(worst, check.error / check.tolerance);
  }
  CHECK(all_ok(checks));
  MESSAGE(to_string(type), ": largest error is ", worst, " of the tolerance");
  CHECK(device.allocated == 0);
}

TEST_CASE("all layers compute what the float64 reference does, in fp32") { check_all(DataType::kFp32); }
TEST_CASE("all layers compute what the float64 reference does, in bf16") { check_all(DataType::kBf16); }
TEST_CASE("all layers compute what the float64 reference does, in fp16") { check_all(DataType::kFp16); }

}  // namespace
}  // namespace debubble
