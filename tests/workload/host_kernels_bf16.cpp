#include "tests/workload/cuda_shim.hpp"
#include "tests/workload/host_kernels.hpp"

#define DEBUBBLE_BF16 1

namespace debubble::test {
namespace bf16 {

#include "tests/workload/host_kernels.inc"

}  // namespace bf16

const HostKernels& host_kernels_bf16() {
  static const HostKernels kernels = bf16::all_kernels();
  return kernels;
}

}  // namespace debubble::test
