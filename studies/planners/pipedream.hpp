// PipeDream's partitioner: contiguous stages with replicas, level by level of the topology, for the least slowest
// stage. Harlap et al., arXiv 1806.03377; Narayanan et al., SOSP 2019. The recurrence is that of the authors' program
// (optimizer_graph_hierarchical.py, commit 7db6a1c), which differs from the paper's:
//
//     stage(i, j, m) = (T(i..j) + c (m-1)/m P(i..j) / B) / m              c = 4 as published, 2 (a ring) mended
//     A(i, j, m) = min over k, m' of max(A(i, k, m-m'), stage(k+1, j, m'), 2 a_k / (B m'), 2 a_j / (B m'))
//
// The times of a level are the answers of the level below it. Ties: the earliest cut, then the fewest replicas
// (in the original they fall as Python happens to walk a set).
#pragma once

#include <vector>

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] const PlannerEntry& pipedream_planner();

struct PipedreamPlan {
  double slowest_ns = 0;             // one microbatch through the slowest stage, over its replicas
  double data_parallel_speedup = 0;  // of pure data parallelism over one device, by the same formula
  std::vector<PlannerStage> outer;   // of the outermost level; replicas in components of the level below
  std::vector<PlannerStage> flat;    // of devices
};

struct PipedreamOptions {
  bool as_published = false;
  bool straight = false;        // one device per stage
  bool communication = true;    // boundaries count (the original's activation compression ratio 1)
  bool fewer_machines = false;  // may leave components idle
};

// Throws InputError Z002 where no partition fits the devices' memory.
[[nodiscard]] PipedreamPlan pipedream_plan(const PlannerJob& job, const PipedreamOptions& options);

}  // namespace debubble
