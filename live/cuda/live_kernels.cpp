#include "live/cuda/live_kernels.hpp"

namespace debubble::live {

std::string live_kernel_source() {
  static constexpr const char* kWords = R"(
#define KERNEL(name) extern "C" __global__ void name
#define DEVICE static __device__ __forceinline__
#define YIELD() __nanosleep(200)
static __device__ __forceinline__ unsigned long long TIME() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now) :: "memory");
  return now;
}
)";
  return kWords + std::string(live_kernel_text());
}

}  // namespace debubble::live
