// AccEPT: cuts for a training pipeline of edge devices by predicted times, with compressed transfers. Chen et al., IEEE
// TMC 2024, arXiv 2311.05827. The abstract was at hand: a predictor of latencies, a partition that balances what it
// predicts, bit-level compression. Its predictor is stood in for by the true times with an error of each layer on each
// type of device; the cuts are the best for those, and the decision says what they cost in true times:
//
//     stage: forward and backward + 2 bytes / codec rate for the tensor on either side (encode and decode)
//     link:  2 ratio bytes / bandwidth
#pragma once

#include <cstdint>
#include <vector>

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& accept_planner();

struct AcceptOptions {
  double error = 0.1;  // each predicted time is the true one times 1 - error to 1 + error, drawn
  std::uint64_t seed = 1;
  double ratio = 1;       // of compressed to plain bytes
  double codec_rate = 0;  // bytes per second; 0: takes no time
};

struct AcceptPlan {
  std::vector<int> cuts;
  double predicted = 0;  // ns per microbatch, slowest stage or link, by the predicted times
  double actual = 0;     // of the same cuts by the true times
  double best = 0;       // of the best cuts by the true times: regret is actual / best - 1
};
[[nodiscard]] AcceptPlan accept_plan(const PlannerJob& job, int stages, const AcceptOptions& options);

}  // namespace debubble
