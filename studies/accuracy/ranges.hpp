// How many measured steps lie in the ranges of the predicted ones, and how often two runs of one job that are told
// apart are in the right order.
//
// Only records that train a --model and whose step was measured count. Nothing here changes a prediction.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/step_range.hpp"
#include "studies/accuracy/results_file.hpp"
#include "studies/uncertainty/range_constants.hpp"

namespace debubble {

// One record with its range's parts, whatever the constants.
struct RangedRecord {
  const ResultRecord* record = nullptr;
  double measured = 0;   // seconds
  double predicted = 0;  // without any constant
  std::vector<TimeKind> kinds;
  bool experts = false;
  std::string job;  // equal: the same model, hardware and batch on as many GPUs, however they are laid out
};

// Of the records of `only`, or of all where it is empty; those that cannot be predicted are left out. On all cores,
// with the same result on any number of them.
[[nodiscard]] std::vector<RangedRecord> ranged_records(const ResultsFile& results, const std::string& only);

// Measured steps in the range, below it and above it.
struct RangeCounts {
  int inside = 0;
  int below = 0;
  int above = 0;

  [[nodiscard]] int all() const { return inside + below + above; }
  [[nodiscard]] double share() const { return all() == 0 ? 0 : static_cast<double>(inside) / all(); }
};

// Pairs of records of one job with different flags.
struct PairCounts {
  int apart = 0;         // told apart
  int apart_right = 0;   // of these, measured in the predicted order
  int close = 0;         // not told apart
  int close_right = 0;   // of these, in the predicted order
  int close_within = 0;  // of these, measured no further apart than what it takes to tell them apart
};

// Seconds.
struct RangedStep {
  const ResultRecord* record = nullptr;
  double measured = 0;
  double predicted = 0;
  double low = 0;
  double high = 0;
  std::vector<TimeKind> kinds;
};

// Of a source's records of dense models, or of models with experts.
struct SourceRanges {
  std::string source;
  bool experts = false;
  std::vector<RangedStep> steps;
  RangeCounts counts;
  RangeCounts left_out;    // with the ends of all other sources
  bool has_others = true;  // false: there are no such ends, and `left_out` is empty
  double widest = 0;       // high / low - 1
  double narrowest = 0;
  double median = 0;
  PairCounts pairs;
};

struct JudgedRanges {
  RangeConstants constants;
  std::vector<SourceRanges> sources;  // in the order of their records
  RangeCounts counts;
  RangeCounts left_out;
  RangeCounts dense;    // of `counts`
  RangeCounts experts;  // of `counts`
  PairCounts pairs;
};

[[nodiscard]] JudgedRanges judge_ranges(const std::vector<RangedRecord>& records, const RangeConstants& constants);

}  // namespace debubble
