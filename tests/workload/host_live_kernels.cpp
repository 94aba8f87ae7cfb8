#include "tests/workload/cuda_shim.hpp"
#include "tests/workload/host_kernels.hpp"

#define TIME() (shim_time += shim_time_step, shim_time - shim_time_step)
#define YIELD() static_cast<void>(0)

namespace debubble::test {
namespace live {

#include "live/cuda/kernels/live.inc"

}  // namespace live

const HostKernels& host_live_kernels() {
  static const HostKernels kernels{{"debubble_live_stamp", host_kernel(&live::debubble_live_stamp)},
                                   {"debubble_live_end", host_kernel(&live::debubble_live_end)},
                                   {"debubble_live_checksum", host_kernel(&live::debubble_live_checksum)},
                                   {"debubble_live_flip", host_kernel(&live::debubble_live_flip)},
                                   {"debubble_live_wait", host_kernel(&live::debubble_live_wait)},
                                   {"debubble_live_resolution", host_kernel(&live::debubble_live_resolution)}};
  return kernels;
}

}  // namespace debubble::test
