// The driver's tables, over every driver that fake_drivers.hpp knows: what it lacks, and that profiling works with it.
#include "gpu/cuda_device.hpp"
#include "gpu/driver_version.hpp"
#include "tests/support/test.hpp"
#include "tests/workload/fake_machine.hpp"

namespace debubble {
namespace {

using testing::FakeDriver;
using testing::FakeMachine;

TEST_CASE("every driver is loaded, says what live execution would miss, and gets libraries of its own CUDA") {
  for (const FakeDriver& driver : testing::kFakeDrivers) {
    CAPTURE(driver.version);
    CAPTURE(driver.source);
    const FakeMachine machine(driver, "");
    const CudaDriver loaded = load_cuda_driver();
    CHECK_EQ(loaded.version, driver.version);
    CHECK_EQ(loaded.missing_for_live, driver.lacks);
    const std::string major = std::to_string(std::max(12, driver.version / 1000));  // the oldest we look for
    CHECK_EQ(names_for_driver("libx.so", driver.version).front(), "libx.so." + major);
  }
}

TEST_CASE("a device for profiling opens on every driver, whatever it lacks for live execution") {
  for (const FakeDriver& driver : testing::kFakeDrivers) {
    CAPTURE(driver.version);
    const FakeMachine machine(driver, "processors=132");
    const CudaDevice device(load_cuda_libraries(), 0, DataType::kBf16);
    CHECK_EQ(device.facts().processors, 132);
  }
  CHECK_EQ(FakeMachine::live_objects(), 0);
}

TEST_CASE("libraries of a newer major version than the driver's are refused, of all other versions taken") {
  for (const FakeDriver& driver : testing::kFakeDrivers) {
    for (const FakeDriver& library : testing::kFakeDrivers) {
      CAPTURE(driver.version);
      CAPTURE(library.version);
      if (library.version / 1000 > driver.version / 1000) {
        CHECK_THROWS_WITH_AS(require_driver_for("NVRTC", "", library.version, driver.version),
                             doctest::Contains("older than NVRTC"), UnavailableError);
      } else {
        CHECK_NOTHROW(require_driver_for("NVRTC", "", library.version, driver.version));
      }
    }
  }
}

TEST_CASE("what CUDA refuses at the start is told by its own name, with what helps") {
  for (const testing::FakeRefusal& refusal : testing::kFakeRefusals) {
    if (refusal.function != "cuInit" && refusal.function != "cuDevicePrimaryCtxRetain") continue;
    CAPTURE(refusal.result);
    CAPTURE(refusal.source);
    const FakeMachine machine("refuse=" + std::string(refusal.function) + ":" + std::to_string(refusal.result));
    Diagnostic found;
    try {
      const CudaDevice device(load_cuda_libraries(), 0, DataType::kBf16);
    } catch (const UnavailableError& error) {
      found = error.diagnostic();
    }
    CHECK_EQ(found.code, refusal.code);
    CHECK_NE(found.message.find(refusal.message), std::string::npos);
    CHECK_NE(found.help.find(refusal.help), std::string::npos);
  }
  CHECK_EQ(FakeMachine::live_objects(), 0);
}

}  // namespace
}  // namespace debubble
