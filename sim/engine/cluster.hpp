// simulate_cluster: the whole training step on a modelled cluster, event by event: transfers and collectives that meet
// on a link share it, step tasks overlap compute, replicas of the pipeline wait for each other.
//
//     link      |act 0.....|                 an activation alone, then together with a reduction: each gets half
//               |    reduce 1 ..........|
//     device 0   F0  F1 ~~~~F2~~~~  B0       F2 takes longer while the reduction runs (StepTask::slow_down)
//
// Start rules on top of those of `simulate`. A step task begins when all it comes after has ended and the lanes of all
// its devices are free; of several the one that has been ready longest, then the one with the lower number; one that
// finds a lane taken does not delay the others. On a compute lane an op that may begin now goes before a task. A flow
// takes its links' bandwidth until its last byte has left, then its latency passes. Copies to the host are flows, out
// and back at the same time, where every device of the job has a host in the graph and the network is contended; they
// never take less than StageCost::copy. Step tasks on compute lanes vary (Variation::task_factor); copies and
// collectives do not.
//
// Where nothing is shared it gives the times of `simulate` to the nanosecond. Only the replicas that are simulated
// share links: one that represents many like it meets none of the others.
#pragma once

#include <vector>

#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/step_work.hpp"
#include "sim/core/timeline.hpp"
#include "sim/core/topology.hpp"
#include "sim/core/variation.hpp"
#include "sim/engine/program.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble {

struct ClusterOptions {
  const StepWork* step = nullptr;        // null: the schedule's ops only
  const Variation* variation = nullptr;  // null: every op takes what its stage costs
  int pipeline_replicas = 1;             // how many data-parallel replicas of the pipeline are simulated together
  // One for all devices, or one each, 0 without end: the run stops where what ended ops have left on a device takes
  // more. Not for schedules whose devices run two ops at once. Empty: no memory is looked at.
  std::vector<Bytes> capacities{};
};

// One per simulated replica of the pipeline; none where it stopped.
[[nodiscard]] std::vector<Timeline> simulate_cluster(const Program& program, const Schedule& schedule,
                                                     const StageCosts& costs, const Topology& topology,
                                                     const ClusterOptions& options);

struct ClusterTotals {
  Nanoseconds makespan = 0;                   // of all replicas
  std::vector<Nanoseconds> replica_makespan;  // by replica
  std::vector<Totals> replicas;               // times only: peaks are not computed
};

// The same without spans, for sweeps and large clusters.
[[nodiscard]] ClusterTotals simulate_cluster_totals(const Program& program, const Schedule& schedule,
                                                    const StageCosts& costs, const Topology& topology,
                                                    const ClusterOptions& options);

// Makespan of a run whose ops vary, without a network or step: the walk of simulate_totals. For thousands of seeds.
// `durations` holds one entry per node of the program (transfers: ignored), see varied_durations.
[[nodiscard]] Nanoseconds simulate_varied(const Program& program, const StageCosts& costs, const Topology& topology,
                                          const std::vector<Nanoseconds>& durations);

// What each node takes in that replica under that variation.
[[nodiscard]] std::vector<Nanoseconds> varied_durations(const Program& program, const Schedule& schedule,
                                                        const StageCosts& costs, const Variation& variation,
                                                        int pipeline_replica);

}  // namespace debubble
