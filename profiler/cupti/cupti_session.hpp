// One CUPTI Activity session: the order of calls that starts it, what is enabled, and the end.
//
// A process has at most one at a time. CUPTI is never finalised: kinds are disabled instead, which is always safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "profiler/cupti/activity_decoder.hpp"
#include "profiler/cupti/nvml.hpp"
#include "profiler/cupti/range_recorder.hpp"
#include "profiler/cupti/record_stream.hpp"
#include "profiler/cupti/recorder.hpp"
#include "profiler/cupti/table.hpp"

namespace debubble {

class CuptiSession : public ExternalIds {
 public:
  // Starts. Throws UnavailableError U020, U003, U005, U025, and leaves CUPTI as it was. Buffers and facts go to
  // `stream`.
  CuptiSession(const CuptiTable& cupti, const RecorderOptions& options, RecordStream& stream);
  ~CuptiSession() override;  // finish()
  CuptiSession(const CuptiSession&) = delete;
  CuptiSession& operator=(const CuptiSession&) = delete;

  bool push_external_id(std::uint64_t range) override;
  void pop_external_id() override;

  // The kinds, to pause and resume. Memory stays: releases must match allocations.
  void enable(bool on);
  void flush(bool forced);
  void finish();

  [[nodiscard]] const ActivityCounts& counts() const { return decoder_.counts(); }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  [[nodiscard]] const CuptiTable& library() const { return cupti_; }
  // See ActivityDecoder; once the stream is closed.
  [[nodiscard]] const std::string& disbelief() const { return decoder_.disbelief(); }

 private:
  void subscribe();
  void require(cupti_abi::Result result, const std::string& step) const;
  void start(const RecorderOptions& options);
  void enable_kind(std::uint32_t kind, bool required);
  [[nodiscard]] cupti_abi::Result enable_devices() const;
  [[nodiscard]] bool enable_calls(std::uint8_t on) const;
  void enable_launches();
  void ask_for_devices();
  void disable_all();
  void undo();
  void count_dropped();
  void count_lost_buffers();
  void run_flush_thread();
  void flush_and_sample(int period);
  void fact(const std::string& key, const std::string& value);

  CuptiTable cupti_;
  RecordStream& stream_;
  RecordQueue& queue_;
  ClockSampler clocks_;
  ActivityDecoder decoder_;
  void* subscriber_ = nullptr;
  std::vector<std::uint32_t> kinds_;  // enabled as a whole
  bool calls_ = false;                // API calls are enabled one by one
  std::atomic<std::uint64_t> dropped_ = 0;
  bool sample_clocks_ = false;
  bool inside_cu_init_ = false;
  std::atomic<bool> devices_asked_ = false;
  std::string driver_;  // as written to the file

  std::mutex flush_mutex_;
  std::condition_variable flush_wakes_;
  bool finished_ = false;
  std::thread flush_thread_;
};

}  // namespace debubble
