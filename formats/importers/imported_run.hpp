// A measured run as another tool recorded it: what ran when, in every iteration, before it is a RunRecord.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/run_record.hpp"
#include "sim/rows/observed.hpp"

namespace debubble {

struct ImportedIteration {
  std::string name;  // "ProfilerStep#12", "step 23", or "1"
  Observation observation;
};

struct ImportedRun {
  std::vector<ImportedIteration> iterations;  // at least one
  int devices = 0;                            // of one pipeline
  ClockAlignment clocks;
  std::vector<LossItem> losses;
  std::vector<std::string> notes;
  std::string device;
  std::string method;   // how the times were taken, in a sentence
  bool on_gpu = false;  // whose clock
};

// By how much ranges of one device may overlap without meaning it: a trace's microseconds are rounded.
inline constexpr Nanoseconds kRangeRounding = 1000;

// Ends ops that overlap the next one of their device by up to kRangeRounding where that one begins. Sorts the ops by
// device and begin. Returns how many were trimmed.
std::int64_t trim_overlaps(std::vector<ObservedOp>& ops);

// Leaves out iterations at the start that take over a quarter longer than the median of all, of at least three, and
// says so in a note.
void drop_warm_up(ImportedRun& run);

inline constexpr const char* kTrimmedOps = "ops that overlapped the next by up to 1 us, and were trimmed";

}  // namespace debubble
