// The fake libcupti: what programs that play the GPU's part call, so that it makes records of their launches.
//
// Target `fake_cupti`, a shared library; name it in $DEBUBBLE_CUPTI (or RecorderOptions::cupti_library). It has an
// activity API like CUPTI's, with buffers, correlation, external ids and a worker thread, and makes records only of
// what these functions report, on the calling thread, while the recorder has enabled their kind. Its behaviour is
// chosen by $FAKE_CUPTI, a list separated by commas; see fake_cupti.cpp.
//
//     FakeCupti gpu = find_fake_cupti();
//     if (gpu.launch != nullptr) gpu.launch("gemm", begin, end, /*stream=*/7);
//
// GPU times are nanoseconds of CLOCK_REALTIME, as CUPTI's. A launch takes no host time of its own.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" {
// A kernel on device 0: a record of the API call cuLaunchKernel, now, and one of the kernel.
using FakeCuptiLaunch = void(const char* kernel, std::uint64_t begin, std::uint64_t end, std::uint32_t stream);
// A copy; `kind` as CUpti_ActivityMemcpyKind: 1 host to device, 2 device to host, 8 device to device.
using FakeCuptiCopy = void(std::uint8_t kind, std::uint64_t bytes, std::uint64_t begin, std::uint64_t end,
                           std::uint32_t stream);
using FakeCuptiSet = void(std::uint64_t bytes, std::uint64_t begin, std::uint64_t end, std::uint32_t stream);
// An allocation (bytes > 0) or release (bytes < 0) of device memory, now.
using FakeCuptiMemory = void(std::uint64_t address, std::int64_t bytes);
// Overhead of a CUpti_ActivityOverheadKind (1 compiler, 3 << 16 resource, 4 << 16 module loading, ...).
using FakeCuptiOverhead = void(std::uint32_t kind, std::uint64_t begin, std::uint64_t end);
// Whole records as a GPU once made them, byte by byte and with their own correlation: a call on this thread, with what
// it is linked to, and GPU work or memory. No record is longer than this release's; what is missing at its end is
// noise.
using FakeCuptiPlay = void(const void* record, std::size_t size);
// cuInit is over.
using FakeCuptiDriverRuns = void();
}

namespace debubble::testing {

struct FakeCupti {
  FakeCuptiLaunch* launch = nullptr;
  FakeCuptiCopy* copy = nullptr;
  FakeCuptiSet* set = nullptr;
  FakeCuptiMemory* memory = nullptr;
  FakeCuptiOverhead* overhead = nullptr;
  FakeCuptiPlay* play = nullptr;
  FakeCuptiDriverRuns* driver_runs = nullptr;
};

// The functions in the library that $FAKE_CUPTI_AT names, else in that of $DEBUBBLE_CUPTI, if this process has loaded
// it; else null pointers.
inline FakeCupti find_fake_cupti() {
  FakeCupti found;
  const char* const at = std::getenv("FAKE_CUPTI_AT");
  const char* const path = at == nullptr ? std::getenv("DEBUBBLE_CUPTI") : at;
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return found;
  found.launch = reinterpret_cast<FakeCuptiLaunch*>(dlsym(library, "fake_cupti_launch"));
  found.copy = reinterpret_cast<FakeCuptiCopy*>(dlsym(library, "fake_cupti_copy"));
  found.set = reinterpret_cast<FakeCuptiSet*>(dlsym(library, "fake_cupti_set"));
  found.memory = reinterpret_cast<FakeCuptiMemory*>(dlsym(library, "fake_cupti_memory"));
  found.overhead = reinterpret_cast<FakeCuptiOverhead*>(dlsym(library, "fake_cupti_overhead"));
  found.play = reinterpret_cast<FakeCuptiPlay*>(dlsym(library, "fake_cupti_play"));
  found.driver_runs = reinterpret_cast<FakeCuptiDriverRuns*>(dlsym(library, "fake_cupti_driver_runs"));
  return found;
}

}  // namespace debubble::testing
