// The part of cuBLASLt's binary interface that we use, in our own words; see cuda_abi.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda_abi.hpp"

namespace debubble::cublaslt {

using Status = int;  // cublasStatus_t
using Handle = struct HandleTag*;
using Description = struct DescriptionTag*;  // cublasLtMatmulDesc_t
using Layout = struct LayoutTag*;            // cublasLtMatrixLayout_t
using Preference = struct PreferenceTag*;    // cublasLtMatmulPreference_t

inline constexpr Status kSuccess = 0;
inline constexpr Status kNotSupported = 15;
inline constexpr Status kExecutionFailed = 13;

inline constexpr int kFloat32 = 0;  // cudaDataType_t
inline constexpr int kFloat16 = 2;
inline constexpr int kBfloat16 = 14;
inline constexpr int kComputeFloat32 = 68;  // CUBLAS_COMPUTE_32F: real fp32, TF32 has a value of its own

inline constexpr std::int32_t kAsStored = 0;  // CUBLAS_OP_N
inline constexpr std::int32_t kTransposed = 1;

inline constexpr int kTransposeA = 3;  // cublasLtMatmulDescAttributes_t, int32
inline constexpr int kTransposeB = 4;
inline constexpr int kProcessorTarget = 15;
inline constexpr int kBatchCount = 5;     // cublasLtMatrixLayoutAttribute_t, int32
inline constexpr int kBatchStride = 6;    // int64, elements
inline constexpr int kMostWorkspace = 1;  // cublasLtMatmulPreferenceAttributes_t, uint64
inline constexpr int kReductions = 3;     // uint32, which ways of adding up split sums are allowed
inline constexpr int kAlignmentA = 5;     // uint32, bytes; 256 unless told otherwise
inline constexpr int kAlignmentB = 6;
inline constexpr int kAlignmentC = 7;
inline constexpr int kAlignmentD = 8;

inline constexpr std::uint32_t kReduceInComputeType = 2;

struct Algorithm {  // cublasLtMatmulAlgo_t
  std::uint64_t data[8];
};

struct Candidate {  // cublasLtMatmulHeuristicResult_t
  Algorithm algorithm;
  std::size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};

// clang-format off
#define DEBUBBLE_CUBLASLT_FUNCTIONS(X)                                                                               \
  X(create, cublasLtCreate, Status, (Handle* handle))                                                                \
  X(destroy, cublasLtDestroy, Status, (Handle handle))                                                               \
  X(version, cublasLtGetVersion, std::size_t, ())                                                                    \
  X(runtime_version, cublasLtGetCudartVersion, std::size_t, ())                                                      \
  X(status_name, cublasLtGetStatusName, const char*, (Status status))                                                \
  X(description_create, cublasLtMatmulDescCreate, Status, (Description* description, int compute, int scale))        \
  X(description_destroy, cublasLtMatmulDescDestroy, Status, (Description description))                               \
  X(description_set, cublasLtMatmulDescSetAttribute, Status,                                                         \
    (Description description, int attribute, const void* value, std::size_t bytes))                                  \
  X(layout_create, cublasLtMatrixLayoutCreate, Status,                                                               \
    (Layout* layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading))                     \
  X(layout_destroy, cublasLtMatrixLayoutDestroy, Status, (Layout layout))                                            \
  X(layout_set, cublasLtMatrixLayoutSetAttribute, Status,                                                            \
    (Layout layout, int attribute, const void* value, std::size_t bytes))                                            \
  X(preference_create, cublasLtMatmulPreferenceCreate, Status, (Preference* preference))                             \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy, Status, (Preference preference))                            \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute, Status,                                                    \
    (Preference preference, int attribute, const void* value, std::size_t bytes))                                    \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic, Status,                                                               \
    (Handle handle, Description description, Layout a, Layout b, Layout c, Layout d, Preference preference,          \
     int asked, Candidate* found, int* count))                                                                       \
  X(matmul, cublasLtMatmul, Status,                                                                                  \
    (Handle handle, Description description, const void* alpha, const void* a, Layout a_layout, const void* b,       \
     Layout b_layout, const void* beta, const void* c, Layout c_layout, void* d, Layout d_layout,                    \
     const Algorithm* algorithm, void* workspace, std::size_t workspace_bytes, cuda::Stream stream))
// clang-format on

struct Functions {
#define DEBUBBLE_DECLARE(name, symbol, result, parameters) \
  result(*name) parameters = nullptr;  // NOLINT(bugprone-macro-parentheses)
  DEBUBBLE_CUBLASLT_FUNCTIONS(DEBUBBLE_DECLARE)
#undef DEBUBBLE_DECLARE
};

}  // namespace debubble::cublaslt
