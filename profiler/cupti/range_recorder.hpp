// Ranges of all threads: into the queue, and to CUPTI as external ids while GPU records are taken.
//
// Tolerant of everything a program does: pops without push, pushes without pop, crossing ranges of two NVTX domains,
// endless depth. What cannot be recorded is counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "profiler/cupti/event_queue.hpp"
#include "profiler/cupti/range_stack.hpp"

namespace debubble {

// CUPTI's stack of external ids of the calling thread.
class ExternalIds {
 public:
  virtual ~ExternalIds() = default;
  virtual bool push_external_id(std::uint64_t range) = 0;  // false: refused, nothing was pushed
  virtual void pop_external_id() = 0;
};

class RangeRecorder {
 public:
  explicit RangeRecorder(RecordQueue& queue);

  // A range without text (data() == nullptr) is balanced but not recorded. Returns how many ranges of the domain were
  // open on this thread before; -1 on a thread that is ending.
  int push(std::string_view text, const void* domain);
  // Returns the same number for the range that ends; -1 when none of the domain is open.
  int pop(const void* domain);

  // From now on ranges are pushed to `ids`, beginning with the innermost one of this thread. null: no longer; then the
  // object may go once no thread can be inside.
  void attach(ExternalIds* ids);
  // Ranges that begin while this is off are not pushed. What was pushed is popped in any case.
  void set_pushing_ids(bool on);

  // Losses since the last call.
  void report(RecordSink& sink);

 private:
  [[nodiscard]] RangeStack* stack() const { return range_stack_of(number_); }
  void end_lingering(RangeStack& stack, const void* domain);
  void remove_top(RangeStack& stack);
  void push_innermost_id(RangeStack& stack);

  RecordQueue& queue_;
  std::uint64_t number_;  // of this recorder among all of the process
  std::atomic<ExternalIds*> ids_ = nullptr;
  std::atomic<bool> pushing_ids_ = false;
  std::atomic<std::int64_t> unmatched_ = 0;
  std::atomic<std::int64_t> crossed_ = 0;
  std::atomic<std::int64_t> refused_ = 0;
};

}  // namespace debubble
