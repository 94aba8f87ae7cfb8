// Alpa's inter-operator pass: stages and submeshes for the least sum of stage times plus (B - 1) times the largest.
// Zheng et al., OSDI 2022, arXiv 2201.12023; the recurrence is training_dp of its program (alpa at b8078a9):
//
//     F(s, k, d) = min over i > k and submeshes n of t(k..i, n) + F(s - 1, i, d - n)     t <= t_max, memory for s - 1
//     more
//
// for every distinct stage time as t_max in ascending order, until B t_max is no better than what was found.
#pragma once

#include <functional>
#include <vector>

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& alpa_planner();

struct AlpaProblem {
  int layers = 0;
  int devices = 0;
  int microbatches = 1;
  std::vector<int> submeshes;                        // numbers of devices, ascending
  std::function<double(int, int, int)> time;         // begin, end, devices; infinity: not possible
  std::function<int(int, int, int)> most_followers;  // how many stages may come behind; null: any number
};

struct AlpaPlan {
  double cost = 0;  // infinity: nothing fits
  std::vector<PlannerStage> stages;
};

[[nodiscard]] AlpaPlan alpa_plan(const AlpaProblem& problem);

}  // namespace debubble
