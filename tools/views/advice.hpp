// Advice: what limits a step (sim/analysis/limit.hpp) in words, and the command to try next.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "sim/analysis/limit.hpp"
#include "sim/analysis/report.hpp"

namespace debubble {

struct Advice {
  std::string limit;    // "pipeline fill and drain: 100.0 % of the idle time; ..."
  std::string next;     // "debubble compare -p 4 -m 8"
  bool command = true;  // whether `next` is a command; false: it says in words what to do
};

// What the report itself does not know.
struct AdviceContext {
  std::string flags;            // of costs, links and parameters, repeated in the command: "--times f=1,b=2"
  std::string schedule;         // as it was asked for: a name or a file; empty: as the report calls it
  bool own_partition = false;   // the layers were cut by hand
  bool auto_partition = false;  // the layers were cut as evenly as they can be
  // The same schedule with more microbatches, simulated: how many, and its bubble_ratio. Absent: not to be had.
  MoreMicrobatches more_microbatches;
};

// `report` must have a result.
[[nodiscard]] Advice advise(const Report& report, const Limit& limit, const AdviceContext& context);
// The same for find_limit's.
[[nodiscard]] Advice advise(const Report& report, const AdviceContext& context);

}  // namespace debubble
