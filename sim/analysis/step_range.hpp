// StepRange: how far a modelled step time may be from a measured one, by what its kinds of work scatter.
#pragma once

#include <string>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

// One kind of work: errors of its figures are common to all that a step has of it, and none of another kind's.
struct TimeKind {
  std::string name;    // "products in bf16", "collectives within machines", ...
  double share = 0;    // of the step, along its critical path
  double scatter = 0;  // standard deviation of log(measured / modelled)
};

struct StepRange {
  Nanoseconds low = 0;
  Nanoseconds high = 0;
  double coverage = 0;          // share of measured steps that such ranges hold
  double scatter = 0;           // of the whole step: kinds, and what a measured step repeats to, in squares
  double repeat = 0;            // of the latter
  std::vector<TimeKind> kinds;  // that take time, the largest part of the scatter first
  int records = 0;              // measured steps that the range's ends were found from
  int sources = 0;              // that these are of
};

}  // namespace debubble
