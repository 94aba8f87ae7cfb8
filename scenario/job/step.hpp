// From the checked flags to the training step of a job.
#pragma once

#include <vector>

#include "scenario/request/scenario.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/step_work.hpp"
#include "sim/core/topology.hpp"

namespace debubble {

// What the step is for.
struct StepPlace {
  const Schedule& schedule;
  const std::vector<int>& partition;
  const Topology& topology;
};

struct StepMade {
  StageCosts costs;  // with what ZeRO does inside ops
  StepWork work;     // empty where there is no step
  std::vector<Assumption> assumptions;
};

// `costs` as make_stage_costs has them. Throws InputError B030 and C001 (cost_models/step/step_work.hpp), and C004
// where flags shape a step that is not there.
[[nodiscard]] StepMade make_step(const Scenario& scenario, StageCosts costs, const StepPlace& place);

// The barrier of an output layer that all devices share, on the links of `topology`: an all-reduce of the gradient of
// its input (--comm alone: of nothing, so only latencies count). Throws what a collective over these links does.
void set_vocabulary_barrier(const Scenario& scenario, const Schedule& schedule, const Topology& topology,
                            StageCosts& costs, std::vector<Assumption>& assumptions);

// Whether the schedule has copies of a stage's weights on several devices, whose gradients must be added up.
[[nodiscard]] bool sums_replicas(const Schedule& schedule);
// The same, and the job has it for nothing: nobody knows how much there is to add, the schedule never stops for it, or
// the links are of unlimited bandwidth.
[[nodiscard]] bool lacks_replica_sums(const Schedule& schedule, const StepWork& work, const Topology& topology);

// Leaves of a measured profile's weights, gradients and optimizer what ZeRO keeps on each rank, as a training step
// does; modelled layers are sharded already, and stay as they are.
void shard_measured_states(const Scenario& scenario, StageCosts& costs);

// Weights, gradients and optimizer of a layer of the scenario's profile on one rank: no stage with it holds less of it
// by the rule above. What a measured profile does not know counts as nothing.
[[nodiscard]] Bytes least_states(const Scenario& scenario, const ProfileLayer& layer);

}  // namespace debubble
