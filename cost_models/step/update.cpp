// The optimizer, and weights that every rank has updated a part of.
#include <utility>

#include "cost_models/step/builder.hpp"

namespace debubble {

using Kind = StepTask::Kind;

// Reads gradients and its state, writes its state and the weights: it does little but wait for memory.
Bytes StepBuilder::update_traffic(int stage) const {
  const StageState& all = state(stage);
  const int weights = options_.master_weights ? 1 : 2;
  const Bytes experts = all.expert_gradients + 2 * all.expert_optimizer + weights * all.expert_parameters;
  const Bytes both = all.gradients + 2 * all.optimizer + weights * all.parameters;
  return sharded(both - experts, stage, false) + sharded(experts, stage, true);
}

void StepBuilder::optimizer(std::int32_t device) {
  const std::vector<StageName> held = states_on(device);
  StepTask task = given(Kind::kOptimizer, {device}, 0, "optimizer");
  task.lane = StepTask::Lane::kCompute;
  if (options_.times.optimizer) {
    task.duration = part_of_share(*options_.times.optimizer, held.size(), schedule_.chunks);
  } else if (computed()) {
    for (const StageName& name : held) task.bytes += update_traffic(name.stage);
    task.duration = memory_time(task.bytes);
  }
  if (task.duration == 0) return;
  wait_for({device}, task);
  done(device) = {add(std::move(task))};
}

bool StepBuilder::gathers_before() const {
  if (options_.times.gather) return options_.gather == ParameterGather::kBeforeForward;
  if (!computed()) return false;
  if (zero() == 3) return options_.keep;  // kept whole during the step only
  return zero() > 0 && options_.gather == ParameterGather::kBeforeForward;
}

bool StepBuilder::gathers_after() const {
  if (options_.times.gather) return options_.gather == ParameterGather::kAfterOptimizer;
  return computed() && (zero() == 1 || zero() == 2) && options_.gather == ParameterGather::kAfterOptimizer;
}

void StepBuilder::gather(int stage) {
  const std::string of = "weights of stage " + std::to_string(stage);
  if (options_.times.gather) {
    const Nanoseconds time = part_of_share(*options_.times.gather, 1, schedule_.chunks);
    add_gather(stage, given(Kind::kParameterGather, places(stage), time, of));
    return;
  }
  const Bytes experts = state(stage).expert_parameters;
  gather_bytes(stage, state(stage).parameters - experts, false, of);
  gather_bytes(stage, experts, true, of + ", experts");
}

void StepBuilder::gather_bytes(int stage, Bytes bytes, bool experts, const std::string& of) {
  const Places devices = places(stage);
  const RankGroups groups = planner_.replica_groups(devices, experts);
  if (bytes == 0 || groups.front().size() < 2) return;
  const CollectivePlan plan = planner_.plan(groups, CollectiveKind::kAllGather, bytes);
  add_gather(stage, collective(Kind::kParameterGather, devices, groups, plan, bytes, of));
}

void StepBuilder::add_gather(int stage, StepTask task) {
  task.across_replicas = across();
  if (gathers_before()) {
    task.before_stages = names(stage);
  } else {
    wait_for(Places(task.devices), task);
  }
  add(std::move(task));
}

}  // namespace debubble
