// Advice: what limits a step, and the command to try next. Rules of thumb, each stated with the numbers it rests on.
#pragma once

#include <string>
#include <string_view>

#include "sim/analysis/report.hpp"

namespace debubble {

struct Advice {
  std::string limit;  // "pipeline fill and drain: 100.0 % of the idle time; ..."
  std::string next;   // "debubble compare -p 4 -m 8"
};

// `report` must have a result. `cost_flags` are repeated in the command, so that it runs with the same costs.
//
// - Devices idle for less than 5 % of the step: compute limits.
// - One device works at least 90 % of the step and another clearly less: that device limits.
// - Otherwise the largest of fill and drain, waiting for compute in between, transfers, and the other causes. For fill
//   and drain it says what twice the microbatches would about give: that part of the bubble halves against the work.
[[nodiscard]] Advice advise(const Report& report, std::string_view cost_flags);

}  // namespace debubble
