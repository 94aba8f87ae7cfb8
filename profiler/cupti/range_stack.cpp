#include "profiler/cupti/range_stack.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <ctime>

namespace debubble {

namespace {

// Survives the destructors of the thread, which may still push and pop.
thread_local bool ended = false;

struct Holder {
  RangeStack stack;
  ~Holder() { ended = true; }
};

}  // namespace

RangeStack* range_stack_of(std::uint64_t recording) {
  if (ended) return nullptr;
  thread_local Holder holder;
  if (holder.stack.recording != recording) {
    holder.stack.recording = recording;
    holder.stack.too_deep = 0;
    holder.stack.open.clear();
  }
  return &holder.stack;
}

std::uint32_t this_thread() {
  thread_local std::uint32_t thread = 0;
  thread_local pid_t process = 0;
  if (process != getpid()) {
    process = getpid();
    thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  }
  return thread;
}

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace debubble
