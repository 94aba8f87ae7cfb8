// The fake GPU: one test-only shared library, target `fake_cuda`, that stands in for libcuda.so.1, libcublasLt and
// libnvrtc at once. With it the whole of `debubble profile --model` runs on a machine without a GPU. Environment:
//
//     DEBUBBLE_LIBCUDA  = .../libfake_cuda.so     the driver: path of the library to load (real ones too)
//     DEBUBBLE_CUBLASLT = .../libfake_cuda.so     cuBLASLt
//     DEBUBBLE_NVRTC    = .../libfake_cuda.so     NVRTC
//     DEBUBBLE_CUPTI    = .../libfake_cupti.so    A fake GPU reports its kernels there (tests/recording/fake_cupti.hpp)
//     FAKE_CUDA         = word,word=value,...     how it behaves; see below
//
// Device memory is host memory. Kernels run as host code from the very text that was "compiled", products are plain
// loops with cuBLAS's column-major meaning. Streams keep their order, wait for events of others and for values in
// memory, and can be captured into graphs, as CUDA's; what cannot begin yet waits, and the host goes on. Time is the
// GPU's own: every kernel takes what the functions below say, so that all durations are known in advance, whatever the
// host is doing. A stream takes kFakeQueue things that wait; then the host waits for it, and where nobody can help
// (another thread that writes a word which a stream waits for) the process ends with a text that says so.
//
//     idle              nothing is computed; all else (time, memory, records) as ever. For whole sessions
//     error=CODE        cuInit fails with this CUDA error (100 no GPU, 803 versions of driver and module differ, ...)
//     stub              the library says that it is the toolkit's stub (error 34)
//     driver=VERSION    highest CUDA version of the driver (13000); older ones differ as fake_drivers.hpp says
//     refuse=FUNC:CODE  this entry point returns this error (those of kFakeRefusals, fake_drivers.hpp)
//     libraries=VERSION version of cuBLASLt and NVRTC (13000)
//     gpus=N            GPUs of the machine (1); $CUDA_VISIBLE_DEVICES chooses among them
//     memory=BYTES      device memory (8 GiB); beyond it an allocation fails as on a GPU
//     capability=N      compute capability (90)
//     compile_error     NVRTC refuses every source
//     fail_launch=NAME  launching this kernel fails at once (error 701)
//     fail_run=NAME     this kernel breaks the context when it runs (error 700): the next synchronisation says so
//     fail_gemm         cuBLASLt has an algorithm for no product
//     hang=NAME         this kernel never ends
//     processors=N      of each GPU (4)
//     least_part=N      green contexts have multiples of it (as documented for the capability, fake_drivers.hpp; 1
//                       where there are fewer than 16 processors)
//     most_parts=N      a split gives no more, whatever was asked
//     unusable=N        a split cannot use so many processors
//     no_green          this GPU has no green contexts
//     no_wait_value     a stream cannot wait for a value in memory
//     fail_wait         waiting for a value in memory fails (error 1)
//     lazy              the first launch of a kernel loads it: it waits until the GPU is idle, and cannot be captured
//     no_peers          no GPU can reach another's memory
//
// A word it does not know ends the process: a test that asks for nothing must not pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/core/units.hpp"

extern "C" {
// What a process has taken from the fake GPU and not given back: objects (contexts, streams, events, modules, handles,
// descriptions, programs) and bytes of device memory. Found with dlsym; a test asks after everything is destroyed.
using FakeCudaLive = std::int64_t();  // "fake_cuda_live_objects", "fake_cuda_live_bytes"
}

namespace debubble::testing {

inline constexpr Nanoseconds kFakeTick = 32;                    // every time on the fake GPU is a multiple of it
inline constexpr Nanoseconds kFakeGap = 32 * kFakeTick;         // between two kernels on one stream
inline constexpr Nanoseconds kFakeCrossGap = 64 * kFakeTick;    // behind an event of another stream
inline constexpr Nanoseconds kFakeTickKernel = 65 * kFakeTick;  // debubble_tick; debubble_hold takes its argument

inline constexpr std::size_t kFakeQueue = 1024;            // things that one stream holds before the host must wait
inline constexpr Nanoseconds kFakeStamp = 20 * kFakeTick;  // debubble_live_*, the executor's own kernels

constexpr Nanoseconds fake_ticks(std::int64_t amount, std::int64_t per_tick) {
  return (amount + per_tick - 1) / per_tick * kFakeTick;
}

// A kernel of the workload: 1 ms, 320 ns for each block and 32 ns for each of its threads.
constexpr Nanoseconds fake_kernel_time(std::int64_t blocks, std::int64_t threads) {
  return 31'250 * kFakeTick + 10 * blocks * kFakeTick + threads * kFakeTick;
}

// A product of m x k and k x n: 2 ms and 32 ns for each 1024 multiplications.
constexpr Nanoseconds fake_gemm_time(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch) {
  return 62'500 * kFakeTick + fake_ticks(m * n * k * batch, 1024);
}

// A memset or copy: 1 us and 32 ns for each 64 KiB.
constexpr Nanoseconds fake_transfer_time(Bytes bytes) { return 32 * kFakeTick + fake_ticks(bytes, 65'536); }

}  // namespace debubble::testing
