// Entry points of our Python hooks for layers that are timed on the CPU (`debubble profile --device cpu`). Each returns
// 0, or -1 when nothing is recorded; nothing else may leave them. Called from one thread at a time: Python's lock.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "profiler/host/host_recording.hpp"
#include "profiler/injection/trouble.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

// Never destroyed, so that a forked child, which has a copy, writes nothing at its end.
struct OpenHostRecording {
  HostRecording recording;
  pid_t process;
};
OpenHostRecording* open_host = nullptr;

std::string host_folder() {
  const char* const folder = std::getenv("DEBUBBLE_RECORD_DIR");
  return folder == nullptr ? "" : folder;
}

// Once in a process, whether it succeeds or not: what cannot be recorded is said once.
void begin_host() {
  static pid_t begun = 0;
  if (begun == getpid()) return;
  const std::string folder = host_folder();
  if (folder.empty()) return;
  begun = getpid();
  try {
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): see above
    open_host = new OpenHostRecording{HostRecording(folder), getpid()};
  } catch (const InputError& error) {
    report_trouble(folder, error.diagnostics().front());
  }
}

template <class Body>
int with_host(const Body& body) {
  try {
    begin_host();
    if (open_host == nullptr || open_host->process != getpid()) return -1;
    body(open_host->recording);
    return 0;
  } catch (...) {
    return -1;
  }
}

std::string hooks_text(const char* text) { return text == nullptr ? "" : text; }

}  // namespace
}  // namespace debubble

extern "C" {

[[gnu::visibility("default")]] int debubble_host_fact(const char* key, const char* value) {
  return debubble::with_host(
      [&](auto& recording) { recording.fact(debubble::hooks_text(key), debubble::hooks_text(value)); });
}

// A range of the step, in any order; times in nanoseconds on one clock.
[[gnu::visibility("default")]] int debubble_host_range(const char* name, const char* sizes, std::int64_t begin,
                                                       std::int64_t end, std::int64_t sequence, std::uint32_t thread,
                                                       std::uint32_t forward_thread) {
  return debubble::with_host([&](auto& recording) {
    recording.add(
        {debubble::hooks_text(name), debubble::hooks_text(sizes), begin, end, sequence, thread, forward_thread});
  });
}

[[gnu::visibility("default")]] int debubble_host_step(int slowed) {
  return debubble::with_host([&](auto& recording) { recording.end_step(slowed != 0); });
}

// A step of which only the duration is known; `paused`: as an exception, to compare it with the others.
[[gnu::visibility("default")]] int debubble_host_bare_step(std::int64_t number, std::int64_t duration, int paused,
                                                           int slowed) {
  return debubble::with_host([&](auto& recording) { recording.bare_step(number, duration, paused != 0, slowed != 0); });
}

// What the launcher is to tell its user.
[[gnu::visibility("default")]] int debubble_host_trouble(const char* code, const char* message, const char* help) {
  try {
    debubble::report_trouble(debubble::host_folder(), {debubble::hooks_text(code), "", debubble::hooks_text(message),
                                                       debubble::hooks_text(help)});
    return 0;
  } catch (...) {
    return -1;
  }
}

[[gnu::visibility("default")]] int debubble_host_close() {
  return debubble::with_host([](auto& recording) {
    if (recording.close()) return;
    debubble::report_trouble(debubble::host_folder(),
                             {"U009", debubble::host_folder(), "the record file could not be written to its end",
                              "make room on the disk and record again"});
  });
}
}
