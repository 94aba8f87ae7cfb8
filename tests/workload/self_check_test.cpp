#include "gpu/workload/self_check.hpp"

#include "gpu/workload/kernels.hpp"
#include "tests/support/test.hpp"
#include "tests/workload/cuda_shim.hpp"
#include "tests/workload/host_device.hpp"

namespace debubble {
namespace {

using test::HostDevice;

void check_all(DataType type) {
  HostDevice device(type);
  double worst = 0;
  const std::vector<NumberCheck> checks = check_workload(device, type);
  CHECK(checks.size() == 119);  // outputs, input gradients and weight gradients of 12 layers and 2 models of 4
  for (const NumberCheck& check : checks) {
    CAPTURE(check.what);
    CAPTURE(check.error);
    CHECK(check.ok);
    CHECK(check.ok == (check.error <= check.tolerance));
    worst = std::max(worst, check.error / check.tolerance);
  }
  CHECK(all_ok(checks));
  MESSAGE(std::string(to_string(type)), ": the largest error is ", worst, " of the tolerance");
  CHECK(device.allocated == 0);
}

TEST_CASE("all layers compute what the float64 reference does, in fp32") { check_all(DataType::kFp32); }
TEST_CASE("all layers compute what the float64 reference does, in bf16") { check_all(DataType::kBf16); }
TEST_CASE("all layers compute what the float64 reference does, in fp16") { check_all(DataType::kFp16); }

TEST_CASE("a kernel that does nothing is noticed, whichever it is") {
  // Of the activations the models use one plain and one gated form; kernels_test has the other two.
  const std::set<std::string> unused{"geglu_backward", "geglu_forward", "silu_backward", "silu_forward"};
  for (const std::string_view name : kernel_names()) {
    if (unused.contains(std::string(name))) continue;
    CAPTURE(std::string(name));
    HostDevice device(DataType::kFp32);
    device.left_out = name;
    CHECK_FALSE(all_ok(check_workload(device, DataType::kFp32, true)));
    CHECK(device.launched.count(std::string(name)) == 1);
  }
}

TEST_CASE("products that are not computed are noticed") {
  HostDevice device(DataType::kBf16);
  device.no_products = true;
  CHECK_FALSE(all_ok(check_workload(device, DataType::kBf16, true)));
}

// Restores the functions that the test makes wrong.
struct Fault {
  explicit Fault(float& which) : factor(which) { which = 1.001F; }
  ~Fault() { factor = 1.0F; }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  float& factor;
};

TEST_CASE("a function that is wrong by a thousandth is noticed in fp32") {
  for (float* factor : {&test::shim_rsqrt_factor, &test::shim_tanh_factor, &test::shim_exp_factor}) {
    const Fault fault(*factor);
    HostDevice device(DataType::kFp32);
    CHECK_FALSE(all_ok(check_workload(device, DataType::kFp32, true)));
  }
}

TEST_CASE("errors are relative to the root mean square, and infinite for what is not a number") {
  CHECK(largest_error({3, 4}, {3, 4}) == 0);
  CHECK(largest_error({3, 4.5}, {3, 4}) == doctest::Approx(0.5 / std::sqrt(12.5)));
  CHECK(largest_error({0, 0.25}, {0, 0}) == 0.25);
  CHECK(std::isinf(largest_error({1}, {1, 2})));
  CHECK(std::isinf(largest_error({std::nan("")}, {1})));
  CHECK(std::isinf(largest_error({std::numeric_limits<double>::infinity()}, {1})));
}

}  // namespace
}  // namespace debubble
