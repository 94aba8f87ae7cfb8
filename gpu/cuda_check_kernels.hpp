// Two kernels that measure the GPU and the profiler rather than a model. CUDA C++ text for NVRTC.
//
//     debubble_hold(long long duration)    keeps the stream busy for so many nanoseconds
//     debubble_tick(unsigned* count)       adds one to a number; the smallest kernel there is
#pragma once

namespace debubble {

inline constexpr const char* kHoldKernel = "debubble_hold";
inline constexpr const char* kTickKernel = "debubble_tick";

// Reads the GPU's nanosecond clock until it has gone on by so much; its steps may be as long as a microsecond.
inline constexpr const char* kCheckKernels = R"(
__device__ unsigned long long gpu_time() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}
extern "C" __global__ void debubble_hold(long long duration) {
  const unsigned long long begin = gpu_time();
  while (gpu_time() - begin < (unsigned long long)duration) {}
}
extern "C" __global__ void debubble_tick(unsigned* count) { *count += 1; }
)";

}  // namespace debubble
