// The rows of a comparison: which run is best, which it is measured against, which cannot be told apart.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/finding.hpp"
#include "sim/core/units.hpp"
#include "tools/views/compare_table.hpp"

namespace debubble {

// What the views need of one run that has a result.
struct CompareRow {
  const ComparedRun* run = nullptr;
  std::string label;    // "interleaved v=2"
  double rate = 0;      // microbatches per ns
  Bytes memory = 0;     // most on a device
  int device = 0;       // that device
  std::string letters;  // of its notes: "a,c"
};

[[nodiscard]] CompareRow compared_row(const ComparedRun& run);

// The name, with what tells it from the same schedule run otherwise.
[[nodiscard]] std::string schedule_label(const ScheduleFacts& facts);

// The first finding that is an error; null: none.
[[nodiscard]] const Finding* first_error(const Report& report);
[[nodiscard]] bool eligible(const CompareRow& row);

// Among those without an error; null where there is none. Asynchronous ones only where there are no others.
[[nodiscard]] const CompareRow* best_of(const std::vector<CompareRow>& rows, const CompareRow* except = nullptr);
// What the best is measured against: 1f1b, which everybody has, else the second best.
[[nodiscard]] const CompareRow* rival_of(const std::vector<CompareRow>& rows, const CompareRow* best);

[[nodiscard]] int devices_in(const CompareRow& row);
[[nodiscard]] bool too_close(const CompareRow& row);

}  // namespace debubble
