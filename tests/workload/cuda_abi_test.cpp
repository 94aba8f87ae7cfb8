// Holds our own declarations of CUDA's binary interface (gpu/*_abi.hpp) to NVIDIA's headers, of the newest release and
// of the oldest that is promised, whose cuBLASLt is not at hand. The checks are static; the test case says that they
// were made.
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif
#include <cuda.h>
#include <cudaTypedefs.h>
#include <doctest/doctest.h>
#include <nvrtc.h>

#include <cstddef>
#include <type_traits>

#include "gpu/cublaslt_abi.hpp"
#include "gpu/nvrtc_abi.hpp"

namespace debubble {
namespace {

// Passed the same way: both pointers, both floating, or both integers or enums; and of one size.
template <typename Ours, typename Theirs>
constexpr bool same_value() {
  if constexpr (std::is_void_v<Ours> || std::is_void_v<Theirs>) {
    return std::is_void_v<Ours> == std::is_void_v<Theirs>;
  } else {
    constexpr bool both_pointers = std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
    constexpr bool both_floating = std::is_floating_point_v<Ours> && std::is_floating_point_v<Theirs>;
    constexpr bool both_whole =
        (std::is_integral_v<Ours> || std::is_enum_v<Ours>)&&(std::is_integral_v<Theirs> || std::is_enum_v<Theirs>);
    return (both_pointers || both_floating || both_whole) &&
           sizeof(Ours) == sizeof(Theirs);  // NOLINT(bugprone-sizeof-expression)
  }
}

// What a pointer points to must match too, one level down, unless a side hides it.
template <typename Ours, typename Theirs>
constexpr bool same_argument() {
  if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using To = std::remove_pointer_t<Ours>;
    using Real = std::remove_pointer_t<Theirs>;
    if constexpr (std::is_const_v<To> != std::is_const_v<Real>) {
      return false;
    } else if constexpr (std::is_scalar_v<To> && std::is_scalar_v<Real>) {
      return same_value<std::remove_const_t<To>, std::remove_const_t<Real>>();
    } else {
      return true;
    }
  } else {
    return same_value<Ours, Theirs>();
  }
}

template <typename Ours, typename Theirs>
struct SameFunction : std::false_type {};
template <typename R1, typename R2, typename... Ours, typename... Theirs>
struct SameFunction<R1 (*)(Ours...), R2(Theirs...)> {
  static constexpr bool all() {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs)) {
      return false;
    } else {
      return same_value<R1, R2>() && (same_argument<Ours, Theirs>() && ...);
    }
  }
  static constexpr bool value = all();
};

#define DEBUBBLE_SAME(name, symbol, ...)                                                    \
  static_assert(SameFunction<decltype(Functions::name), decltype(::symbol)>::value, #symbol \
                " is declared "                                                             \
                "differently");

// The trait itself: a wrong declaration must not pass.
using Right = int (*)(int*, unsigned);
static_assert(SameFunction<Right, CUresult(int*, unsigned)>::value);
static_assert(!SameFunction<Right, CUresult(int*, unsigned long long)>::value);
static_assert(!SameFunction<Right, CUresult(long long*, unsigned)>::value);
static_assert(!SameFunction<Right, CUresult(int*, float)>::value);
static_assert(!SameFunction<Right, CUresult(const int*, unsigned)>::value);
static_assert(!SameFunction<Right, CUresult(int*)>::value);
static_assert(!SameFunction<Right, void(int*, unsigned)>::value);

#define DEBUBBLE_DRIVER(name, symbol, parameters) DEBUBBLE_SAME(name, symbol)
namespace driver {
using Functions = cuda::Functions;
DEBUBBLE_CUDA_FUNCTIONS(DEBUBBLE_DRIVER)
static_assert(cuda::kSuccess == CUDA_SUCCESS);
static_assert(cuda::kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(cuda::kStubLibrary == CUDA_ERROR_STUB_LIBRARY);
static_assert(cuda::kNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(cuda::kInvalidDevice == CUDA_ERROR_INVALID_DEVICE);
static_assert(cuda::kNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(cuda::kNotSupported == CUDA_ERROR_NOT_SUPPORTED);
static_assert(cuda::kIllegalAddress == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(cuda::kLaunchFailed == CUDA_ERROR_LAUNCH_FAILED);
// driver_api.cpp explains them.
static_assert(802 == CUDA_ERROR_SYSTEM_NOT_READY && 803 == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
static_assert(804 == CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE && 999 == CUDA_ERROR_UNKNOWN);
static_assert(cuda::kProcessorCount == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(cuda::kCapabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(cuda::kCapabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(cuda::kMostSharedMemory == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(cuda::kFunctionSharedMemory == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(cuda::kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(cuda::kEventDefault == CU_EVENT_DEFAULT);
static_assert(same_value<cuda::Address, CUdeviceptr>() && same_value<cuda::Device, CUdevice>());
}  // namespace driver

#if CUDA_VERSION >= 12050  // the first that has all of these
namespace live {
using Functions = cuda::LiveFunctions;
DEBUBBLE_CUDA_LIVE_FUNCTIONS(DEBUBBLE_DRIVER)
static_assert(cuda::kNotReady == CUDA_ERROR_NOT_READY);
static_assert(cuda::kPeerAccessAlreadyEnabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(cuda::kTooManyPeers == CUDA_ERROR_TOO_MANY_PEERS);
static_assert(cuda::kCaptureUnjoined == CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
static_assert(cuda::kInvalidResourceConfiguration == CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
static_assert(cuda::kEventWithoutTime == CU_EVENT_DISABLE_TIMING);
static_assert(cuda::kGreenDefaultStream == CU_GREEN_CTX_DEFAULT_STREAM);
static_assert(cuda::kHostMemoryPortable == CU_MEMHOSTALLOC_PORTABLE);
static_assert(cuda::kHostMemoryMapped == CU_MEMHOSTALLOC_DEVICEMAP);
static_assert(cuda::kWaitUntilAtLeast == CU_STREAM_WAIT_VALUE_GEQ);
static_assert(cuda::kCaptureThreadLocal == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(cuda::kProcessorResource == CU_DEV_RESOURCE_TYPE_SM);
static_assert(sizeof(cuda::Uuid) == sizeof(CUuuid));
using Resource = cuda::ProcessorResource;
static_assert(sizeof(Resource) == sizeof(CUdevResource) && alignof(Resource) <= alignof(CUdevResource));
static_assert(offsetof(Resource, processors) == offsetof(CUdevResource, sm) + offsetof(CUdevSmResource, smCount));
static_assert(offsetof(Resource, least_part) ==
              offsetof(CUdevResource, sm) + offsetof(CUdevSmResource, minSmPartitionSize));
static_assert(offsetof(Resource, aligned_to) ==
              offsetof(CUdevResource, sm) + offsetof(CUdevSmResource, smCoscheduledAlignment));

// What the fake drivers lack (fake_drivers.hpp): the toolkit names each function's type by its first CUDA version.
static_assert(std::is_pointer_v<PFN_cuLibraryLoadData_v12000> && std::is_pointer_v<PFN_cuLibraryUnload_v12000> &&
              std::is_pointer_v<PFN_cuLibraryGetKernel_v12000>);
static_assert(std::is_pointer_v<PFN_cuDeviceGetDevResource_v12040> &&
              std::is_pointer_v<PFN_cuDevSmResourceSplitByCount_v12040> &&
              std::is_pointer_v<PFN_cuDevResourceGenerateDesc_v12040> &&
              std::is_pointer_v<PFN_cuGreenCtxCreate_v12040> && std::is_pointer_v<PFN_cuGreenCtxDestroy_v12040> &&
              std::is_pointer_v<PFN_cuCtxFromGreenCtx_v12040> &&
              std::is_pointer_v<PFN_cuGreenCtxGetDevResource_v12040>);
static_assert(std::is_pointer_v<PFN_cuGreenCtxStreamCreate_v12050>);
// How they refuse.
static_assert(46 == CUDA_ERROR_DEVICE_UNAVAILABLE && 914 == CUDA_ERROR_INVALID_RESOURCE_TYPE);
}  // namespace live
#endif

#ifdef CUBLAS_VERSION
namespace blas {
using Functions = cublaslt::Functions;
DEBUBBLE_CUBLASLT_FUNCTIONS(DEBUBBLE_SAME)
static_assert(cublaslt::kSuccess == CUBLAS_STATUS_SUCCESS);
static_assert(cublaslt::kNotSupported == CUBLAS_STATUS_NOT_SUPPORTED);
static_assert(cublaslt::kExecutionFailed == CUBLAS_STATUS_EXECUTION_FAILED);
static_assert(cublaslt::kFloat32 == CUDA_R_32F && cublaslt::kFloat16 == CUDA_R_16F);
static_assert(cublaslt::kBfloat16 == CUDA_R_16BF);
static_assert(cublaslt::kComputeFloat32 == CUBLAS_COMPUTE_32F &&
              cublaslt::kComputeFloat32 != CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(cublaslt::kAsStored == CUBLAS_OP_N && cublaslt::kTransposed == CUBLAS_OP_T);
static_assert(cublaslt::kTransposeA == CUBLASLT_MATMUL_DESC_TRANSA);
static_assert(cublaslt::kTransposeB == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(cublaslt::kBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(cublaslt::kBatchStride == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(cublaslt::kMostWorkspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(cublaslt::kProcessorTarget == CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET);
static_assert(cublaslt::kReductions == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
static_assert(cublaslt::kReduceInComputeType == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
static_assert(cublaslt::kAlignmentA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(cublaslt::kAlignmentB == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(cublaslt::kAlignmentC == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
static_assert(cublaslt::kAlignmentD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(sizeof(cublaslt::Algorithm) == sizeof(cublasLtMatmulAlgo_t));
using Theirs = cublasLtMatmulHeuristicResult_t;
static_assert(sizeof(cublaslt::Candidate) == sizeof(Theirs));
static_assert(offsetof(cublaslt::Candidate, workspace) == offsetof(Theirs, workspaceSize));
static_assert(offsetof(cublaslt::Candidate, state) == offsetof(Theirs, state));
static_assert(offsetof(cublaslt::Candidate, waves) == offsetof(Theirs, wavesCount));
// Handles are pointers on both sides, so that an argument of one size is also of one kind.
static_assert(std::is_pointer_v<cublasLtHandle_t> && std::is_pointer_v<cublasLtMatmulDesc_t>);
}  // namespace blas
#endif

namespace compiler {
using Functions = nvrtc::Functions;
DEBUBBLE_NVRTC_FUNCTIONS(DEBUBBLE_SAME)
static_assert(nvrtc::kSuccess == NVRTC_SUCCESS && nvrtc::kCompilation == NVRTC_ERROR_COMPILATION);
}  // namespace compiler

static_assert(std::is_pointer_v<CUcontext> && std::is_pointer_v<CUstream> && std::is_pointer_v<nvrtcProgram>);

TEST_CASE("our declarations of the CUDA driver, cuBLASLt and NVRTC equal NVIDIA's") {
  MESSAGE("CUDA " << CUDA_VERSION);
  CHECK(CUDA_VERSION >= 12000);
}

}  // namespace
}  // namespace debubble
