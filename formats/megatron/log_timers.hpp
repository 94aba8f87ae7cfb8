// Megatron-LM's own timers, as its log prints them after the line of an iteration.
//
//     time (ms) | forward-compute: 173.61 | forward-recv: 126.41        until 2022: of the last rank
//     (min, max) time across ranks (ms):                                --timing-log-option minmax
//         forward-compute ................: (173.61, 180.02)
//     max time across ranks (ms):                                       --timing-log-option max
//         forward-compute ................: 180.02
//     times across ranks (ms):                                          --timing-log-option all
//       forward-compute:
//          rank  0: 173.61
//
// Every number is a mean per iteration, over all microbatches: 180.02 ms of forwards in an iteration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

struct LoggedTimer {
  enum class Of : std::uint8_t { kLastRank, kRank, kLeastRank, kMostRank };
  std::string name;  // "forward-compute"
  Of of = Of::kLastRank;
  std::int64_t rank = 0;  // kRank
  Nanoseconds time = 0;

  bool operator==(const LoggedTimer&) const = default;
};

// Reads the timers line by line: those of one form may take many.
class TimerLines {
 public:
  // True: the line is one of timers, and what it says was added to `timers`.
  bool read(std::string_view line, std::vector<LoggedTimer>& timers);

 private:
  enum class Form : std::uint8_t { kNone, kLeastAndMost, kMost, kEachRank };
  bool read_below(std::string_view line, std::vector<LoggedTimer>& timers);

  Form form_ = Form::kNone;
  std::string name_;  // kEachRank: whose ranks follow
};

// "173.61": milliseconds. Nothing for what is not a number, negative or beyond kLongestDuration.
[[nodiscard]] std::optional<Nanoseconds> logged_milliseconds(std::string_view number);

// The digits and points at the beginning, after blanks.
[[nodiscard]] std::string_view number_at(std::string_view text);

}  // namespace debubble
