// DAPPLE's planner: replicated stages of synchronous 1F1B for the shortest step. Fan et al., PPoPP 2021, arXiv
// 2007.01045; the rule is that of its released program (HPGO in AlibabaPAI/DAPPLE at fd75dcf), whose model of a step is
//
//     block (M - 1) + C / (rp M) + sum of cut transfers + max over s of max(0, AR_s - s block)      block = slowest / M
//
// Three families compete by it: one stage on all devices, straight pipelines (two stages on half of the devices each,
// or as many stages as devices), and every split into two stages with a prefix of the devices each.
#pragma once

#include <string>
#include <vector>

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& dapple_planner();

struct DappleOptions {
  // The original adds the weights of the next stage's first layer to every stage's exchange.
  bool shifted_weights = false;
  // Of the outer level's bandwidth, what a transfer into one machine gets; the original: 1 GB/s where collectives
  // have 3.
  double transfer_share = 1;
};

struct DapplePlan {
  std::string family;  // "one stage", "straight", "bipartition"
  std::vector<PlannerStage> stages;
  double speedup = 0;  // over one device
};

// Of each family its best, in the order above, those that do not exist for the job left out.
[[nodiscard]] std::vector<DapplePlan> dapple_plans(const PlannerJob& job, const DappleOptions& options);
// Of data parallelism, by the same constants.
[[nodiscard]] double dapple_data_parallel(const PlannerJob& job, const DappleOptions& options);

// The latency of the paper, of stages with transfers as stages of their own, in the unit of its inputs: T_w + T_s + T_e
// with the pivot stage Q. `exact_tail`: a stage behind the pivot ends its last backward when B_Q begins, so that its
// tail is shorter by the backwards from Q + 1 to the one before it; otherwise by those up to its own.
struct DappleLatency {
  int pivot = 0;
  double warm_up = 0, steady = 0, tail = 0;
  [[nodiscard]] double total() const { return warm_up + steady + tail; }
};
[[nodiscard]] DappleLatency dapple_latency(const std::vector<double>& forward, const std::vector<double>& backward,
                                           const std::vector<double>& exchange, int microbatches, bool exact_tail);

}  // namespace debubble
