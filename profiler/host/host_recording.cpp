#include "profiler/host/host_recording.hpp"

#include <unistd.h>

#include "profiler/cupti/process_facts.hpp"

namespace debubble {
namespace {

std::string host_file(const std::string& folder) {
  const std::string rank = rank_of_process();
  return folder + "/" + (rank.empty() ? "" : "rank" + rank + "-") + "pid" + std::to_string(getpid()) + ".dbrec";
}

}  // namespace

HostRecording::HostRecording(const std::string& folder) : file_(host_file(folder)) {
  for (const auto& [key, value] : process_facts()) fact(key, value);
  fact(kProcessorFact, kCpuProcessor);
  file_.flush();
}

void HostRecording::fact(std::string_view key, std::string_view value) { file_.on(FactRecord{key, value}); }

void HostRecording::loss(std::string_view what, std::int64_t count) { file_.on(LossRecord{what, count}); }

void HostRecording::end_step(bool slowed) {
  records_.step(std::exchange(ranges_, {}), slowed);
  file_.flush();
}

void HostRecording::bare_step(std::int64_t number, Nanoseconds duration, bool paused, bool slowed) {
  records_.bare_step(number, duration, paused, slowed);
  file_.flush();
}

bool HostRecording::close() {
  file_.close();
  return !file_.failed();
}

}  // namespace debubble
