// How the ways to run a job stand, for each pair of values of two dimensions ("tp 4 and pp 8"): what a heat map tells
// apart where no run is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "studies/plan/evaluations.hpp"

namespace debubble {

struct CellDimension {
  const char* name;  // as plan's JSON has it in a choice: "tp", "microbatch", "schedule"
  std::vector<std::string> values;
};

// Of the ways with two values.
struct PlanCellCount {
  std::int64_t fits = 0;       // simulated, and fits
  std::int64_t illegal = 0;    // refused, or a deadlock: no such run
  std::int64_t too_large = 0;  // by a bound, or simulated
  std::int64_t open = 0;       // not simulated, for others are faster: by a bound, or when time ran out
};

struct CellPair {
  std::size_t across = 0;  // of `dimensions`; each pair once, this one before the other
  std::size_t down = 0;
  std::vector<PlanCellCount> cells;  // row by row; one of zeros: no way to run the job has both values
};

struct PlanCells {
  std::vector<CellDimension> dimensions;  // those of several values
  std::vector<CellPair> pairs;
};

// As far as the search has come.
[[nodiscard]] PlanCells count_cells(PlanEvaluations& evaluations);

}  // namespace debubble
