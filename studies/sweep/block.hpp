// What came of some rows of a sweep: their lines, the best of them, and how often what went wrong. Small, whatever the
// number of rows but for the lines.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/sweep/row.hpp"

namespace debubble {

// What rows are ranked by; of equals the first row is better. Asynchronous schedules, which do not train the same, come
// behind all others.
enum class SweepMerit : std::uint8_t {
  kThroughput,  // of all devices together
  kPerDevice,   // throughput over the number of ranks
  kStep,        // the shortest
  kBubble,      // the smallest bubble_ratio
  kMemory,      // the smallest peak
  kMfu
};
inline constexpr std::string_view kSweepMerits = "throughput|per-device|step|bubble|memory|mfu";

// A row with numbers, as far as a table shows it.
struct SweepBest {
  double merit = 0;  // more is better
  bool asynchronous = false;
  std::int64_t row = 0;
  Nanoseconds makespan = 0;
  double bubble_ratio = 0;
  double rate = 0;          // sweep_rate
  bool in_samples = false;  // it counts samples, not microbatches
  std::optional<double> mfu;
  Bytes peak = 0;
  std::optional<Bytes> spare;
  std::string limit;
};

// Rows that ended alike.
struct SweepTally {
  std::int64_t rows = 0;
  std::string reason;  // of the first of them
};

struct SweepBlock {
  std::string lines;
  std::map<std::pair<int, std::string>, SweepTally> tallies;  // by status and code
  std::vector<SweepBest> best;                                // the best first
  std::optional<SweepBest> asynchronous;                      // the best of these alone

  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t rows_with(int status) const;
};

// How a row becomes part of a block.
struct SweepForm {
  std::function<std::string(const SweptRow&)> line;  // with its end; null: lines are not wanted
  SweepMerit merit = SweepMerit::kThroughput;
  int top = 0;  // how many of the best are kept
};

// The row's status and code, and why, on one line: "--tp: what is wrong". Without code where it ran.
struct SweepVerdict {
  int status = 0;
  std::string code;
  std::string reason;
};
[[nodiscard]] SweepVerdict verdict_of(const SweptRow& row);
// What keeps a row's step from being shorter: "fill_and_drain"; empty without numbers.
[[nodiscard]] std::string limit_word(const SweptRow& row);

[[nodiscard]] SweepBlock sweep_block(SweepRunner& runner, std::int64_t first, std::int64_t end, const SweepForm& form);
// Adds the counts and the best of a later block; lines are not taken.
void add_block(SweepBlock& sum, const SweepBlock& later, int top);

}  // namespace debubble
