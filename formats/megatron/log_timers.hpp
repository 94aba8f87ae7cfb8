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
// Every number is a sum over all microbatches, divided by --log-interval: 180.02 ms of forwards in an iteration, where
// as many iterations were timed (log_iterations.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

// What one call of Megatron-LM's timers printed: one table, of the iterations since the call before.
struct TimerTable {
  std::size_t lines_before = 0;  // lines of iterations in front of it
  std::vector<LoggedTimer> timers;
};

// Reads the timers line by line: those of one form may take many, with other lines between them.
class TimerLines {
 public:
  // True: the line is one of timers, and what it says was added to the tables.
  bool read(std::string_view line, std::size_t lines_before);
  // The table is over: a line of an iteration, a new start.
  void close() { form_ = Form::kNone; }

  [[nodiscard]] const std::vector<TimerTable>& tables() const { return tables_; }
  // Rows that other lines ran into, so that nobody knows what they said.
  [[nodiscard]] std::size_t torn_rows() const { return torn_; }

 private:
  enum class Form : std::uint8_t { kNone, kLeastAndMost, kMost, kEachRank };
  bool read_below(std::string_view line);
  bool read_rank(std::string_view before, std::string_view value);
  bool tear();
  void add(LoggedTimer timer) { tables_.back().timers.push_back(std::move(timer)); }

  Form form_ = Form::kNone;
  std::string name_;        // kEachRank: whose ranks follow; "": its line was torn
  std::int64_t rank_ = -1;  // kEachRank: the last that was read; they ascend
  std::vector<TimerTable> tables_;
  std::size_t torn_ = 0;
};

// "173.61": milliseconds. Nothing for what is not a number, negative or beyond kLongestDuration.
[[nodiscard]] std::optional<Nanoseconds> logged_milliseconds(std::string_view number);

// The digits and points at the beginning, after blanks.
[[nodiscard]] std::string_view number_at(std::string_view text);

}  // namespace debubble
