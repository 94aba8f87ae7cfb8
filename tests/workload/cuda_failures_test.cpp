// What a person is told when something of CUDA is missing, too old, or fails: one code for each.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gpu/cuda_device.hpp"
#include "gpu/cuda_library.hpp"
#include "gpu/driver_version.hpp"
#include "tests/support/test.hpp"
#include "tests/workload/fake_machine.hpp"

namespace debubble {
namespace {

using testing::FakeMachine;
using testing::Variables;

Diagnostic refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const UnavailableError& error) {
    return error.diagnostic();
  }
  return {"", "", "nothing was refused", ""};
}

Diagnostic start_refusal(int ordinal = 0, DataType type = DataType::kBf16) {
  Diagnostic found = refusal([&] { const CudaDevice device(load_cuda_libraries(), ordinal, type); });
  CHECK(FakeMachine::live_objects() == 0);
  CHECK(FakeMachine::live_bytes() == 0);
  return found;
}

TEST_CASE("without a library the message names it and the variable that was set") {
  const FakeMachine machine;
  for (const auto& [variable, code] : std::vector<std::pair<const char*, std::string>>{
           {"DEBUBBLE_LIBCUDA", "U020"}, {"DEBUBBLE_CUBLASLT", "U023"}, {"DEBUBBLE_NVRTC", "U023"}}) {
    const Variables absent{{variable, "/nowhere/library.so"}};
    const Diagnostic found = start_refusal();
    CHECK(found.code == code);
    CHECK(contains(found.message, std::string(variable) + " names /nowhere/library.so, which does not exist"));
    CHECK(!found.help.empty());
  }
}

TEST_CASE("a file that is no library, and a library that is another, are named as such") {
  const std::string path = std::filesystem::temp_directory_path() / ("debubble-no-library-" + std::to_string(getpid()));
  std::ofstream(path) << "text";
  const FakeMachine machine;
  {
    const Variables broken{{"DEBUBBLE_NVRTC", path}};
    const Diagnostic found = start_refusal();
    CHECK(found.code == "U023");
    CHECK(contains(found.message, path));
    CHECK_FALSE(contains(found.message, "does not exist"));
  }
  {
    const Variables other{{"DEBUBBLE_CUBLASLT", "libdl.so.2"}};
    const Diagnostic found = start_refusal();
    CHECK(found.code == "U023");
    CHECK(contains(found.message, "lacks cublasLtCreate"));
  }
  std::filesystem::remove(path);
}

TEST_CASE("a driver without a GPU is told by CUDA's own name for the reason") {
  const FakeMachine machine("error=100");
  const Diagnostic found = start_refusal();
  CHECK(found.code == "U021");
  CHECK(contains(found.message, "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)"));
  CHECK(contains(found.help, "CUDA_VISIBLE_DEVICES"));
}

TEST_CASE("a driver that was updated under the kernel's feet asks for a restart") {
  const FakeMachine machine("error=803");
  const Diagnostic found = start_refusal();
  CHECK(found.code == "U021");
  CHECK(contains(found.help, "restart"));
}

TEST_CASE("an error that the driver has no name for is given by its number") {
  const FakeMachine machine("error=4711");
  CHECK(contains(start_refusal().message, "CUDA error 4711"));
}

TEST_CASE("the toolkit's stub is not taken for a driver") {
  const FakeMachine machine("stub");
  CHECK(start_refusal().code == "U020");
  const std::string real = "/usr/local/cuda/lib64/stubs/libcuda.so";
  if (!std::filesystem::exists(real)) return;
  const Variables stub{{"DEBUBBLE_LIBCUDA", real}};
  CHECK(start_refusal().code == "U020");
}

TEST_CASE("a driver older than the libraries is refused, a newer one is not") {
  {
    const FakeMachine machine("driver=12090,libraries=13000");
    const Diagnostic found = start_refusal();
    CHECK(found.code == "U025");
    CHECK(contains(found.message, "the driver supports CUDA 12.9, older than cuBLASLt of CUDA 13.0"));
  }
  const FakeMachine machine("driver=13000,libraries=12080");
  CHECK(start_refusal().message == "nothing was refused");
  CHECK_NOTHROW(require_driver_for("NVRTC", "", 13020, 13000));
  CHECK(names_for_driver("libx.so", 12090).front() == "libx.so.12");
  CHECK(names_for_driver("libx.so", 13010).front() == "libx.so.13");
}

TEST_CASE("a GPU that is not there is refused by its number") {
  const FakeMachine machine("gpus=2");
  CHECK(start_refusal(1).message == "nothing was refused");
  for (const int ordinal : {2, -1}) {
    const Diagnostic found = start_refusal(ordinal);
    CHECK(found.code == "U021");
    CHECK(found.place == "--device " + std::to_string(ordinal));
    CHECK(contains(found.message, "CUDA sees 2"));
  }
}

TEST_CASE("a GPU too old for the kernels, and one that the compiler does not know") {
  {
    const FakeMachine machine("capability=75");
    const Diagnostic found = start_refusal();
    CHECK(found.code == "U021");
    CHECK(contains(found.message, "7.5"));
  }
  const FakeMachine machine;  // the fake compiler's oldest target is 7.5
  const Nvrtc nvrtc = load_nvrtc(13000);
  const Diagnostic found = refusal([&nvrtc] { (void)compile_for(nvrtc, "", "x.cu", 70); });
  CHECK(found.code == "U023");
  CHECK(contains(found.message, "7.0"));
}

TEST_CASE("memory that runs out is told with what was asked and what is free") {
  const FakeMachine machine("memory=67108864");
  CudaDevice device(load_cuda_libraries(), 0, DataType::kBf16);
  const Diagnostic found = refusal([&device] { (void)device.allocate(Bytes{1} << 30); });
  CHECK(found.code == "U026");
  CHECK(contains(found.message, "1024 MiB asked for, 31 MiB of 64 MiB free"));
}

TEST_CASE("memory too small for cuBLASLt's workspace leaves nothing behind") {
  const FakeMachine machine("memory=1048576");
  CHECK(start_refusal().code == "U026");
}

TEST_CASE("a kernel that cannot be launched, and one that fails while it runs, are named") {
  {
    const FakeMachine machine("fail_launch=debubble_tick");
    CudaDevice device(load_cuda_libraries(), 0, DataType::kBf16);
    const Diagnostic found = refusal([&device] { device.tick(); });
    CHECK(found.code == "U027");
    CHECK(contains(found.message, "the kernel debubble_tick failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"));
  }
  {
    const FakeMachine machine("fail_run=debubble_tick");
    CudaDevice device(load_cuda_libraries(), 0, DataType::kBf16);
    device.tick();
    const Diagnostic found = refusal([&device] { device.synchronise(); });
    CHECK(found.code == "U027");
    CHECK(contains(found.message, "the kernel debubble_tick, or one issued shortly before it, failed"));
    CHECK(contains(found.message, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    CHECK(contains(refusal([&device] { (void)device.elapsed(0, 0); }).message, "CUDA_ERROR_ILLEGAL_ADDRESS"));
  }
  CHECK(FakeMachine::live_objects() == 0);
}

TEST_CASE("a kernel that no source has is refused by its name") {
  const FakeMachine machine;
  CudaDevice device(load_cuda_libraries(), 0, DataType::kBf16);
  const Diagnostic found = refusal([&device] { device.launch({"no_such_kernel", 1, 32, 0, {}}); });
  CHECK(contains(found.message, "finding the kernel no_such_kernel failed: CUDA_ERROR_NOT_FOUND"));
}

TEST_CASE("a product without an algorithm is told with its shape") {
  const FakeMachine machine("fail_gemm");
  CudaDevice device(load_cuda_libraries(), 0, DataType::kBf16);
  Gemm gemm;
  gemm.a = {256, 3, 5, 5, 15};
  gemm.b = {256, 5, 7, 7, 35};
  gemm.c = {256, 3, 7, 7, 21};
  const Diagnostic found = refusal([&] { device.gemm(gemm); });
  CHECK(found.code == "U027");
  CHECK(contains(found.message, "the matmul 3 x 5 x 7, in bf16 failed: CUBLAS_STATUS_NOT_SUPPORTED"));
}

TEST_CASE("a source that does not compile is told with the compiler's log") {
  const FakeMachine machine("compile_error");
  const Diagnostic found = start_refusal();
  CHECK(found.code == "U027");
  CHECK(contains(found.message, "NVRTC_ERROR_COMPILATION\nline 1: error: the fake compiler refuses everything"));
}

TEST_CASE("a library is found in a folder of a toolkit, and the variable comes first") {
  const std::string folder = std::filesystem::temp_directory_path() / ("debubble-cuda-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder + "/lib64");
  std::filesystem::create_symlink(FAKE_CUDA_LIBRARY, folder + "/lib64/libdebubble_stray.so.13");
  const LibrarySearch search{"DEBUBBLE_STRAY", {"libdebubble_stray.so.13"}, {"/nowhere", folder + "/lib64"}};
  CHECK(CudaLibrary::find(search).name() == folder + "/lib64/libdebubble_stray.so.13");
  {
    const Variables given{{"DEBUBBLE_STRAY", FAKE_CUDA_LIBRARY}};
    CHECK(CudaLibrary::find(search).name() == FAKE_CUDA_LIBRARY);
  }
  CHECK(!CudaLibrary::find({"DEBUBBLE_STRAY", {"libdebubble_none.so.13"}, {folder + "/lib64"}}).is_open());
  const Variables home{{"CUDA_HOME", folder}};
  CHECK(toolkit_folders().front() == folder + "/lib64");
  std::filesystem::remove_all(folder);
}

TEST_CASE("folders of pip's CUDA packages in the active environment are searched") {
  const std::string prefix = std::filesystem::temp_directory_path() / ("debubble-venv-" + std::to_string(getpid()));
  const std::string lib = prefix + "/lib/python3.11/site-packages/nvidia/cu13/lib";
  std::filesystem::create_directories(lib);
  const Variables active{{"VIRTUAL_ENV", prefix}, {"CUDA_HOME", ""}, {"CUDA_PATH", ""}, {"CONDA_PREFIX", ""}};
  CHECK(toolkit_folders().back() == lib);
  std::filesystem::remove_all(prefix);
}

TEST_CASE("the driver's own version is read from the kernel module's text") {
  CHECK(kernel_driver_version(
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\nGCC version: 12.2") ==
        "535.104.05");
  CHECK(kernel_driver_version("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build") ==
        "580.65.06");
  CHECK(kernel_driver_version("NVRM version: unknown\nGCC version: 12.2.0").empty());
  CHECK(kernel_driver_version("").empty());
  CHECK(cuda_version_text(13000) == "13.0");
  CHECK(cuda_version_text(12090) == "12.9");
}

}  // namespace
}  // namespace debubble
