// The record file of a running process, and the thread that writes it.
//
//     RecordQueue ----> writer thread: events as records, buffers through the decoder ----> RECORDS.dbrec
//
// Every tenth of a second, and sooner when buffers come, all that is there goes to disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "profiler/cupti/activity_decoder.hpp"
#include "profiler/cupti/event_queue.hpp"
#include "profiler/cupti/range_recorder.hpp"
#include "profiler/records/record_file.hpp"

namespace debubble {

class RecordStream {
 public:
  explicit RecordStream(const std::string& file);  // throws InputError (C051)
  ~RecordStream();                                 // close(), unless abandoned: then it must not be destroyed
  RecordStream(const RecordStream&) = delete;
  RecordStream& operator=(const RecordStream&) = delete;

  [[nodiscard]] RecordQueue& queue() { return queue_; }
  [[nodiscard]] RangeRecorder& ranges() { return ranges_; }

  // Who decodes buffers, before the first one comes; lives until a flush() after the last one.
  void decode_with(ActivityDecoder* decoder) { decoder_ = decoder; }

  // Runs what must not throw into a thread of ours; failures are counted in the file ("writer_failures").
  template <class Body>
  void attempt(const Body& body) noexcept {
    try {
      body();
    } catch (...) {
      ++failures_;
    }
  }

  void flush() { queue_.flush(); }
  // Writes what is left and the end of the file; later events are lost.
  void close();
  // For a forked child: the thread is not here, the file is the parent's.
  void abandon() { file_.abandon(); }
  [[nodiscard]] bool failed() const { return file_.failed(); }

 private:
  void run();
  void write(EventBatch& batch);
  void report_losses();

  RecordQueue queue_;
  RangeRecorder ranges_;
  RecordFileWriter file_;
  std::atomic<ActivityDecoder*> decoder_ = nullptr;
  std::atomic<std::int64_t> failures_ = 0;
  std::thread writer_;
};

}  // namespace debubble
