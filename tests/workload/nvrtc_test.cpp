// The workload's kernels through the real NVRTC, where one is installed: it needs no GPU to compile for one.
#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gpu/cublaslt_api.hpp"
#include "gpu/cuda_check_kernels.hpp"
#include "gpu/nvrtc_api.hpp"
#include "gpu/workload/kernels.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

constexpr int kAnyDriver = 99'000;  // newer than any library

std::optional<Nvrtc> installed_nvrtc() {
  try {
    return load_nvrtc(kAnyDriver);
  } catch (const UnavailableError& error) {
    MESSAGE("SKIPPED: " << error.what());
    return std::nullopt;
  }
}

TEST_CASE("NVRTC makes machine code of every kernel, for each data type and generation of GPUs") {
  const std::optional<Nvrtc> nvrtc = installed_nvrtc();
  if (!nvrtc) return;
  constexpr std::array<std::pair<DataType, int>, 4> kTargets{
      {{DataType::kBf16, 80}, {DataType::kBf16, 90}, {DataType::kFp16, 90}, {DataType::kFp32, 90}}};
  for (const auto& [type, capability] : kTargets) {
    const std::string image = compile_for(*nvrtc, kernel_source(type), "kernels.cu", capability);
    CHECK(image.substr(1, 3) == "ELF");
    for (const std::string_view name : kernel_names()) {
      CAPTURE(name);
      CHECK(image.find(".text." + std::string(name)) != std::string::npos);
    }
  }
}

TEST_CASE("NVRTC makes PTX for a GPU newer than itself, and machine code of the kernels that measure") {
  const std::optional<Nvrtc> nvrtc = installed_nvrtc();
  if (!nvrtc) return;
  const std::string ptx = compile_for(*nvrtc, kCheckKernels, "checks.cu", 9990);
  CHECK(ptx.find(".entry debubble_hold") != std::string::npos);
  const std::string image = compile_for(*nvrtc, kCheckKernels, "checks.cu", 90);
  CHECK(image.find(std::string(".text.") + kHoldKernel) != std::string::npos);
  CHECK(image.find(std::string(".text.") + kTickKernel) != std::string::npos);
}

TEST_CASE("what NVRTC refuses is told with its own words and line") {
  const std::optional<Nvrtc> nvrtc = installed_nvrtc();
  if (!nvrtc) return;
  try {
    (void)compile_for(*nvrtc, "__global__ void broken() {\n  no_such_thing();\n}", "broken.cu", 90);
    FAIL("it was compiled");
  } catch (const UnavailableError& error) {
    CHECK(error.diagnostic().code == "U027");
    CHECK(error.diagnostic().message.find("broken.cu(2): error: identifier \"no_such_thing\"") != std::string::npos);
  }
}

TEST_CASE("an installed cuBLASLt has every function that we call") {
  try {
    const CublasLt found = load_cublaslt(kAnyDriver);
    CHECK(found.runtime_version >= 12'000);
  } catch (const UnavailableError& error) {
    MESSAGE("SKIPPED: " << error.what());
  }
}

}  // namespace
}  // namespace debubble
