// What leads from the run that is there to the best plan: its parts, the largest gain first.
//
//     tp 2, pp 2, full recomputation   ->   1. recompute none   2. tp 2 -> 1, dp 2 -> 4   3. ZeRO 0 -> 1
#pragma once

#include <string>
#include <vector>

#include "studies/plan/own_run.hpp"

namespace debubble {

struct OwnChange {
  std::vector<std::string> words;  // "ZeRO 0 -> 1"
  Evaluation alone;                // the run with this change and no other: simulated, or illegal
  Evaluation together;             // with those before it; of the last the plan itself
};

// None of a run that cannot be simulated or deadlocks, or that is the plan.
[[nodiscard]] std::vector<OwnChange> own_changes(const OwnRun& run, const OwnStanding& standing,
                                                 const PlanRequest& request, const PlanChoice& plan);

}  // namespace debubble
