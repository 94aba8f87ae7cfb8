#include "tests/workload/cuda_shim.hpp"
#include "tests/workload/host_kernels.hpp"

#define DEBUBBLE_FP16 1

namespace debubble::test {
namespace fp16 {

#include "tests/workload/host_kernels.inc"

}  // namespace fp16

const HostKernels& host_kernels_fp16() {
  static const HostKernels kernels = fp16::all_kernels();
  return kernels;
}

}  // namespace debubble::test
