#include "tests/workload/cuda_shim.hpp"
#include "tests/workload/host_kernels.hpp"

#define DEBUBBLE_FP32 1

namespace debubble::test {
namespace fp32 {

#include "tests/workload/host_kernels.inc"

}  // namespace fp32

const HostKernels& host_kernels_fp32() {
  static const HostKernels kernels = fp32::all_kernels();
  return kernels;
}

}  // namespace debubble::test
