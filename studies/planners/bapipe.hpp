// BaPipe: the kind of schedule and a balanced partition, for devices that overlap transfers and such that do not. Zhao
// et al., 2020, arXiv 2012.12544. The abstract was at hand; the table of schedules is recalled, and holds here as the
// definition of the rule (N stages, M microbatches, F and B of the slowest stage, SR its longest transfer one way):
//
//     1F1B-AS    (M+N-1)(F+B)                    holds N-i+1 features at stage i (from 1)     devices that overlap
//     FBP-AS     (M+N-1)(F+B)                    2(N-i+1), at half the bandwidth              devices that overlap
//     1F1B-SNO   (M+N-1)(F+B) + (N+M-2) 2 SR     N-i+1                                        others
//     1F1B-SO    (M+N-1)(F+B) + (N-1) 2 SR       2(N-i+1)                                     others
#pragma once

#include <string>
#include <vector>

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& bapipe_planner();

struct BapipeSchedule {
  std::string name;
  bool overlaps = false;  // for devices that compute and transfer at the same time
  int features = 1;       // times N - i + 1
  int exposed = 0;        // transfers: 0: none, 1: (N - 1) 2 SR, 2: (N + M - 2) 2 SR
};
[[nodiscard]] const std::vector<BapipeSchedule>& bapipe_schedules();
// Of a step, in the unit of its inputs.
[[nodiscard]] double bapipe_time(const BapipeSchedule& schedule, int stages, int microbatches, double forward,
                                 double backward, double transfer);

}  // namespace debubble
