// PipeDream-2BW's planner: depth, width, microbatch size and recomputation of equal pipelines of a uniform model.
// Narayanan et al., ICML 2021, arXiv 2006.09503. The formulas are recalled:
//
//     time of a microbatch   max over stages of max(compute + transfers, exchange of its weights / m)
//     memory of a worker     2 |W| / d + A(b)              without recomputation
//                            2 |W| / d + A(b) / d + d A_in(b)   with it, which costs another forward
//
// and a step of m microbatches per pipeline needs m >= d, so that two versions of the weights suffice.
#pragma once

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& pipedream_2bw_planner();

struct TwoBufferedChoice {
  int depth = 1;
  int width = 1;
  int size = 1;  // in microbatches of the job, which are run as one
  bool recompute = false;
  int microbatches = 1;  // of that size per pipeline and step
};
// ns per microbatch of the job, over all pipelines; infinity: it does not fit the memory.
[[nodiscard]] double two_buffered_time(const PlannerJob& job, const TwoBufferedChoice& choice);

}  // namespace debubble
