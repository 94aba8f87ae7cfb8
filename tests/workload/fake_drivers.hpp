// How CUDA drivers differ, and how they refuse: what the fake driver does (fake_cuda.hpp), and what tests run over.
// Each row names NVIDIA's own text for it; `cuda.h` and `cudaTypedefs.h` are those of the CUDA 13.0 toolkit, whose
// comments are the CUDA Driver API's documentation. tests/workload/cuda_abi_test.cpp holds the entry points to the real
// headers.
#pragma once

#include <array>
#include <string_view>

namespace debubble::testing {

// The fake driver is the last row whose version its own (FAKE_CUDA: driver=VERSION) reaches.
struct FakeDriver {
  int version;              // highest CUDA version that it supports
  std::string_view number;  // its first release: CUDA Toolkit Release Notes, "CUDA Toolkit and Corresponding Driver
                            // Versions"
  std::string_view file;    // the library that lacks its entry points (tests/workload/CMakeLists.txt)
  std::string_view lacks;   // entry points of live execution, in the order of DEBUBBLE_CUDA_LIVE_FUNCTIONS
  bool tells_granularity;   // fills minSmPartitionSize and smCoscheduledAlignment of CUdevSmResource
  std::string_view source;
};

#define FAKE_LACKS_GREEN                                                                               \
  "cuDeviceGetDevResource, cuDevSmResourceSplitByCount, cuDevResourceGenerateDesc, cuGreenCtxCreate, " \
  "cuGreenCtxDestroy, cuCtxFromGreenCtx, cuGreenCtxGetDevResource, cuGreenCtxStreamCreate"

inline constexpr std::string_view kFieldsOf13 =
    "cuda.h of CUDA 13.0, CUdevSmResource; that drivers of CUDA 12 fill smCount alone was reported, not seen here";

inline constexpr std::array<FakeDriver, 6> kFakeDrivers{
    {{11080, "520.61.05", "libfake_cuda_11080.so",
      "cuLibraryLoadData, cuLibraryUnload, cuLibraryGetKernel, " FAKE_LACKS_GREEN, false,
      "cudaTypedefs.h: PFN_cuLibraryLoadData_v12000, PFN_cuGreenCtxCreate_v12040"},
     {12000, "525.60.13", "libfake_cuda_12000.so", FAKE_LACKS_GREEN, false,
      "cudaTypedefs.h: PFN_cuGreenCtxCreate_v12040"},
     {12040, "550.54.14", "libfake_cuda_12040.so", "cuGreenCtxStreamCreate", false,
      "cudaTypedefs.h: PFN_cuGreenCtxStreamCreate_v12050"},
     {12050, "555.42.02", "libfake_cuda.so", "", false, kFieldsOf13},
     {12090, "575.51.03", "libfake_cuda.so", "", false, kFieldsOf13},
     {13000, "580.65.06", "libfake_cuda.so", "", true, "cuda.h, CUdevSmResource"}}};

#undef FAKE_LACKS_GREEN

// What a part of a GPU has: cuda.h, Green Contexts, "guideline for each compute architecture".
struct FakeGranularity {
  unsigned least;
  unsigned step;
};
constexpr FakeGranularity fake_granularity(int capability) {
  if (capability >= 90) return {8, 8};
  return capability >= 80 ? FakeGranularity{4, 2} : FakeGranularity{2, 2};
}

// One entry point that returns an error (FAKE_CUDA: refuse=FUNCTION:RESULT), and what the user is told.
struct FakeRefusal {
  std::string_view function;
  int result;
  std::string_view code;  // "": the run goes on
  std::string_view message;
  std::string_view help;
  std::string_view source;
};

inline constexpr std::array<FakeRefusal, 15> kFakeRefusals{{
    {"cuInit", 100, "U021", "CUDA_ERROR_NO_DEVICE", "CUDA_VISIBLE_DEVICES", "cuda.h, enum cudaError_enum"},
    {"cuInit", 802, "U021", "CUDA_ERROR_SYSTEM_NOT_READY", "nvidia-fabricmanager",
     "cuda.h, enum cudaError_enum: \"all required driver daemons are actively running\""},
    {"cuInit", 803, "U021", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "restart the machine", "cuda.h, cuInit: Returns"},
    {"cuInit", 804, "U021", "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "LD_LIBRARY_PATH", "cuda.h, cuInit: Returns"},
    {"cuDevicePrimaryCtxRetain", 999, "U021", "CUDA_ERROR_UNKNOWN", "compute mode",
     "cuda.h, cuDevicePrimaryCtxRetain: \"if the compute mode of the device is CU_COMPUTEMODE_PROHIBITED\""},
    {"cuDevicePrimaryCtxRetain", 46, "U021", "CUDA_ERROR_DEVICE_UNAVAILABLE", "compute mode",
     "cuda.h, enum cudaError_enum: \"due to use of CU_COMPUTEMODE_EXCLUSIVE_PROCESS\""},
    {"cuDeviceGetDevResource", 914, "U060", "CUDA_ERROR_INVALID_RESOURCE_TYPE", "--gpus each",
     "cuda.h, cuDeviceGetDevResource: Returns"},
    {"cuDevSmResourceSplitByCount", 915, "U060", "the driver refuses", "--gpus each",
     "cuda.h, cuDevSmResourceSplitByCount: Returns"},
    {"cuDevSmResourceSplitByCount", 1, "U027", "cutting the GPU into parts failed: CUDA_ERROR_INVALID_VALUE", "",
     "cuda.h, cuDevSmResourceSplitByCount: Returns"},
    {"cuDevResourceGenerateDesc", 915, "U027", "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", "",
     "cuda.h, cuDevResourceGenerateDesc: Returns"},
    {"cuGreenCtxCreate", 801, "U060", "no green contexts: CUDA_ERROR_NOT_SUPPORTED", "--gpus each",
     "cuda.h, cuGreenCtxCreate: Returns"},
    {"cuGreenCtxCreate", 2, "U026", "CUDA_ERROR_OUT_OF_MEMORY", "", "cuda.h, cuGreenCtxCreate: Returns"},
    {"cuGreenCtxStreamCreate", 2, "U026", "CUDA_ERROR_OUT_OF_MEMORY", "", "cuda.h, cuGreenCtxStreamCreate: Returns"},
    {"cuStreamWaitValue32_v2", 801, "", "", "", "cuda.h, cuStreamWaitValue32: Returns; a kernel waits instead"},
    {"cuCtxEnablePeerAccess", 711, "U060", "CUDA_ERROR_TOO_MANY_PEERS", "--backend mpi",
     "cuda.h, cuCtxEnablePeerAccess: \"hardware resources required for peer access have been exhausted\""},
}};

}  // namespace debubble::testing
