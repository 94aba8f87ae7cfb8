// The open ranges of the calling thread, of one recording at a time.
//
//     bottom [ range 3, pushed to CUPTI ] [ range 9, pushed ] [ refused ] [ range 12, pushed ] top
//
// CUPTI's own stack holds those that were pushed, in the same order, so that both can be popped together although a
// session may begin and pause in the middle.
#pragma once

#include <cstdint>
#include <vector>

namespace debubble {

struct OpenRange {
  std::uint64_t range = 0;       // 0: not recorded
  const void* domain = nullptr;  // of NVTX; ranges of one domain nest, those of two may cross
  bool pushed = false;           // to CUPTI
  bool closed = false;           // popped while another domain's range was open above it
};

// Deeper ranges are counted, not kept: a program that never pops must not fill the memory.
inline constexpr std::size_t kDeepest = 4096;

struct RangeStack {
  std::uint64_t recording = 0;  // number of the recording whose ranges these are
  std::uint64_t too_deep = 0;
  std::vector<OpenRange> open;
};

// The calling thread's, emptied when it belongs to another recording; null when the thread is ending.
[[nodiscard]] RangeStack* range_stack_of(std::uint64_t recording);

// gettid(), asked once per thread and again in a forked child.
[[nodiscard]] std::uint32_t this_thread();

// Nanoseconds of CLOCK_REALTIME, which is CUPTI's clock on Linux.
[[nodiscard]] std::int64_t now();

}  // namespace debubble
