// Whether the records of a CUPTI that nobody has tested mean what we read in them.
//
// The beginning of each record has stayed the same since CUDA 11.6, but nothing promises that it will. So the first
// records of a newer release are looked at before one of them is believed: is the walk inside the buffer, are times in
// order and of this hour, are device, stream and process ones that exist, is a name readable text?
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "profiler/cupti/activity_walker.hpp"

namespace debubble {

class RecordJudge {
 public:
  static constexpr int kEnoughWork = 32;  // records of GPU work that made sense

  // cuptiGetTimestamp: the clock that all times of the library are of.
  using Clock = cupti_abi::Result (*)(std::uint64_t*);

  // Without a clock CLOCK_REALTIME is taken, which is CUPTI's on Linux until 13.0.
  explicit RecordJudge(NextRecord next, Clock clock = nullptr) : next_(next), clock_(clock) {}

  // What of this buffer makes no sense; empty: all of it does.
  [[nodiscard]] std::string judge(std::uint8_t* buffer, std::size_t valid);
  // Enough was seen: later buffers need not be judged.
  [[nodiscard]] bool convinced() const { return works_ >= kEnoughWork; }

 private:
  [[nodiscard]] std::string judge_record(const cupti_abi::Activity* activity) const;
  [[nodiscard]] std::uint64_t time_now() const;

  NextRecord next_;
  Clock clock_;
  int works_ = 0;
  std::int64_t records_ = 0;
  std::int64_t unknown_ = 0;  // of kinds that nobody enabled
};

}  // namespace debubble
