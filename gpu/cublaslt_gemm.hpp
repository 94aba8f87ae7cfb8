// CublasLtGemm: row-major matmuls on cuBLASLt. The algorithm of each shape is chosen once, by cuBLASLt's heuristic,
// and kept.
//
// cuBLAS is column-major. A row-major matrix is the transposed column-major one with the same leading dimension, and
//
//     row-major C = op(A) op(B)    is    column-major C^T = op(B)^T op(A)^T
//
// so the operands change places, keep their op, and give their sizes as columns x rows.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "gpu/cublaslt_api.hpp"
#include "gpu/owned_handle.hpp"
#include "gpu/workload/device.hpp"

namespace debubble {

// What cuBLASLt may scratch on; NVIDIA recommends 32 MiB for GPUs of capability 9.0.
inline constexpr Bytes kGemmWorkspace = 32 * kMebibyte;

class CublasLtGemm {
 public:
  // Needs a current context. `workspace`: kGemmWorkspace bytes on the device, the caller's. `processors`: how many the
  // matmuls will really run on, where that is a part of the GPU; 0: all. Throws UnavailableError.
  CublasLtGemm(const CublasLt& library, DeviceAddress workspace, std::int32_t processors = 0);

  // Issues one matmul. Throws UnavailableError U027 with the shape where cuBLASLt has no algorithm or refuses.
  void run(const Gemm& gemm, cuda::Stream stream);

  [[nodiscard]] std::size_t shapes() const { return plans_.size(); }  // met so far

 private:
  using Key = std::array<std::int64_t, 18>;
  struct Plan {
    OwnedHandle<cublaslt::Description> description;
    OwnedHandle<cublaslt::Layout> first;   // of B, see above
    OwnedHandle<cublaslt::Layout> second;  // of A
    OwnedHandle<cublaslt::Layout> result;
    cublaslt::Algorithm algorithm{};
  };

  static Key key_of(const Gemm& gemm);
  Plan make_plan(const Gemm& gemm) const;
  OwnedHandle<cublaslt::Layout> layout(const MatrixView& view, DataType type, std::int64_t batch) const;
  cublaslt::Algorithm choose(const Plan& plan, const Gemm& gemm) const;

  const CublasLt& library_;
  DeviceAddress workspace_;
  std::int32_t processors_;
  OwnedHandle<cublaslt::Handle> handle_;
  std::map<Key, Plan> plans_;
};

}  // namespace debubble
