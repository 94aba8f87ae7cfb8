#include "profiler/host/host_recording.hpp"

#include "profiler/cupti/process_facts.hpp"

namespace debubble {

HostRecording::HostRecording(const std::string& folder) : file_(folder + "/" + record_file_name()) {
  for (const auto& [key, value] : process_facts()) fact(key, value);
  fact(kProcessorFact, kCpuProcessor);
  file_.flush();
}

void HostRecording::fact(std::string_view key, std::string_view value) { file_.on(FactRecord{key, value}); }

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
