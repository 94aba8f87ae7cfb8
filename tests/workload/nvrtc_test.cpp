// All kernels through NVIDIA's own NVRTC, of the newest release and the oldest that is promised: it needs no GPU to
// compile for one.
#include "gpu/cublaslt_api.hpp"
#include "gpu/cuda_check_kernels.hpp"
#include "gpu/nvrtc_api.hpp"
#include "gpu/workload/kernels.hpp"
#include "live/cuda/live_kernels.hpp"
#include "tests/support/command.hpp"
#include "tests/witness/witness.hpp"

namespace debubble {
namespace {

constexpr int kAnyDriver = 99'000;  // newer than any library
constexpr int kOldestGpu = 80;      // what CudaDevice takes: the Ampere generation and newer

// Each NVRTC, as the program loads it.
std::vector<Nvrtc> compilers() {
  std::vector<Nvrtc> found;
  for (const std::string& library : testing::witnesses("libnvrtc.so.")) {
    ::setenv("DEBUBBLE_NVRTC", library.c_str(), 1);
    found.push_back(load_nvrtc(kAnyDriver));
    CHECK(found.back().library == library);
  }
  ::unsetenv("DEBUBBLE_NVRTC");
  return found;
}

// The compute capabilities that we promise and this NVRTC knows.
std::vector<int> capabilities_of(const Nvrtc& nvrtc) {
  int count = 0;
  REQUIRE(nvrtc.call.target_count(&count) == nvrtc::kSuccess);
  std::vector<int> targets(static_cast<std::size_t>(count));
  REQUIRE(nvrtc.call.targets(targets.data()) == nvrtc::kSuccess);
  std::erase_if(targets, [](int target) { return target < kOldestGpu; });
  CHECK(targets.size() >= 5);
  return targets;
}

void check_kernels_of(const Nvrtc& nvrtc, DataType type) {
  for (const int capability : capabilities_of(nvrtc)) {
    CAPTURE(nvrtc.library);
    CAPTURE(capability);
    const std::string image = compile_for(nvrtc, kernel_source(type), "kernels.cu", capability);
    CHECK(image.substr(1, 3) == "ELF");
    for (const std::string_view name : kernel_names()) {
      CAPTURE(std::string(name));
      CHECK(contains(image, ".text." + std::string(name)));
    }
  }
}

TEST_CASE("NVRTC makes machine code of every kernel for every GPU, bf16") {
  for (const Nvrtc& nvrtc : compilers()) check_kernels_of(nvrtc, DataType::kBf16);
}

TEST_CASE("NVRTC makes machine code of every kernel for every GPU, fp16") {
  for (const Nvrtc& nvrtc : compilers()) check_kernels_of(nvrtc, DataType::kFp16);
}

TEST_CASE("NVRTC makes machine code of every kernel for every GPU, fp32") {
  for (const Nvrtc& nvrtc : compilers()) check_kernels_of(nvrtc, DataType::kFp32);
}

TEST_CASE("NVRTC makes machine code of the kernels that measure and of live execution's, and PTX for newer GPUs") {
  for (const Nvrtc& nvrtc : compilers()) {
    CAPTURE(nvrtc.library);
    for (const int capability : capabilities_of(nvrtc)) {
      CAPTURE(capability);
      const std::string image = compile_for(nvrtc, kCheckKernels, "checks.cu", capability);
      CHECK(contains(image, std::string(".text.") + kHoldKernel));
      CHECK(contains(image, std::string(".text.") + kTickKernel));
      CHECK(compile_for(nvrtc, live::live_kernel_source(), "live.cu", capability).substr(1, 3) == "ELF");
    }
    const std::string ptx = compile_for(nvrtc, kCheckKernels, "checks.cu", 9990);
    CHECK(contains(ptx, ".entry debubble_hold"));
  }
}

TEST_CASE("what NVRTC refuses is told with its own words and line") {
  for (const Nvrtc& nvrtc : compilers()) {
    try {
      (void)compile_for(nvrtc, "__global__ void broken() {\n  no_such_thing();\n}", "broken.cu", 90);
      FAIL("it was compiled");
    } catch (const UnavailableError& error) {
      CHECK(error.diagnostic().code == "U027");
      CHECK(contains(error.diagnostic().message, "broken.cu(2): error: identifier \"no_such_thing\""));
    }
  }
}

TEST_CASE("a GPU that NVRTC no longer knows is told") {
  for (const Nvrtc& nvrtc : compilers()) {
    CHECK_THROWS_WITH_AS((void)compile_for(nvrtc, kCheckKernels, "checks.cu", 37),
                         doctest::Contains("does not know GPUs of compute capability 3.7"), UnavailableError);
  }
}

TEST_CASE("cuBLASLt has every function that we call") {
  for (const std::string& library : testing::witnesses("libcublasLt.so.")) {
    ::setenv("DEBUBBLE_CUBLASLT", library.c_str(), 1);
    const CublasLt found = load_cublaslt(kAnyDriver);
    CHECK(found.runtime_version >= 12'000);
    CHECK(std::string(found.call.status_name(cublaslt::kNotSupported)) == "CUBLAS_STATUS_NOT_SUPPORTED");
    ::unsetenv("DEBUBBLE_CUBLASLT");
  }
}

TEST_CASE("doctor tells of each NVRTC and cuBLASLt") {
  const testing::Folder folder;
  for (const auto& [variable, name] :
       {std::pair("DEBUBBLE_NVRTC=", "libnvrtc.so."), {"DEBUBBLE_CUBLASLT=", "libcublasLt.so."}}) {
    for (const std::string& library : testing::witnesses(name)) {
      testing::Surroundings machine;
      machine.environment = {variable + library, "DEBUBBLE_LIBCUDA=/none"};
      const std::string told = folder.run("doctor --format json", machine).out;
      CAPTURE(told);
      CHECK(contains(told, library + ", CUDA 1"));
    }
  }
}

}  // namespace
}  // namespace debubble
