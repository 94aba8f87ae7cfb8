// A recording of this process: ranges from its first moment, GPU records once CUPTI can be started.
//
// The injection library needs the two apart: a program pushes ranges before it touches the GPU, or never does. Recorder
// is the same with both from the start.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/cupti/cupti_session.hpp"
#include "profiler/cupti/record_stream.hpp"
#include "profiler/cupti/recorder.hpp"

namespace debubble {

class Recording {
 public:
  explicit Recording(const std::string& file);  // throws InputError (C051)
  ~Recording();                                 // ends the file if stop() did not; must not run after abandon()
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Throws UnavailableError U001, U003 to U005, U020, U025; ranges go on all the same.
  void start_gpu(const RecorderOptions& options);
  [[nodiscard]] bool has_gpu() const { return gpu_ != nullptr; }

  // See RangeRecorder.
  int push(std::string_view text, const void* domain = nullptr) { return stream_.ranges().push(text, domain); }
  int pop(const void* domain = nullptr) { return stream_.ranges().pop(domain); }

  void pause();
  void resume();
  void fact(std::string_view key, std::string_view value);
  void loss(std::string_view what, std::int64_t count);
  void flush();

  // Throws UnavailableError U011 and U041; the file is complete even then.
  RecorderSummary stop();
  void abandon();

 private:
  RecordStream stream_;
  std::unique_ptr<CuptiSession> session_;
  std::atomic<CuptiSession*> gpu_ = nullptr;  // session_, once it has started: other threads look
  std::atomic<bool> paused_ = false;
  std::atomic<bool> stopped_ = false;
};

}  // namespace debubble
