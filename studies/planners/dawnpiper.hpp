// DawnPiper: cuts for pipelines whose front stages hold more, with recomputation where memory lacks. Peng et al., 2025,
// arXiv 2505.05856. A theorem says that the best cut between two halves of the stages lies between the cut that
// balances compute and the cut that balances memory; only cuts in that interval are tried, half by half. The abstract
// was at hand, not the pseudo-code; the rules are ours after it:
//
//     stage x of n (from 1), k = n - x + 1:   memory = k (weights + activations)  asynchronous
//                                                      weights + k activations    synchronous
//     what lacks is got by recomputing layers: each costs a third of its time and frees k - 1 of its activations
#pragma once

#include <vector>

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& dawnpiper_planner();

struct DawnpiperPlan {
  double slowest = 0;  // ns per microbatch, recomputation included; infinity: nothing fits
  std::vector<int> cuts;
};
// Only cuts between the two balanced ones.
[[nodiscard]] DawnpiperPlan dawnpiper_interval(const PlannerJob& job, int stages, bool asynchronous);
// All cuts.
[[nodiscard]] DawnpiperPlan dawnpiper_exhaustive(const PlannerJob& job, int stages, bool asynchronous);

}  // namespace debubble
