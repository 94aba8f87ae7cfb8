// The optimizer, and weights that every rank has updated a part of.
#include <algorithm>
#include <utility>

#include "cost_models/step/builder.hpp"

namespace debubble {

using Kind = StepTask::Kind;

// Passes over memory, as Megatron-LM's mixed-precision optimizer makes them one after the other, each reading and
// writing all of its tensors (megatron/core/optimizer, distributed/param_and_grad_buffer.py). With 32-bit gradients of
// 16-bit weights, Adam and several replicas, in bytes per number:
//
//     gradients cleared             4   all that a device keeps
//     divided by the replicas       8   the same; none where there is one
//     loss scaling taken out        8   fp16 only: finite numbers are looked for
//     norm                          4   a task of its own (norm.cpp)
//     clipped                       8
//     Adam                         28   gradient read; weight and two moments read and written
//     copied to 16-bit weights      6
//
// From the third row on ZeRO leaves each rank its part. 16-bit gradients are copied to 32 bits first.
Bytes StepBuilder::update_traffic(int stage) const {
  const StageState& all = state(stage);
  const UpdateBytes experts =
      update_bytes({all.expert_parameters, all.expert_gradients, all.expert_optimizer, 0, 0, 0}, copies(stage) > 1);
  const UpdateBytes both = update_bytes(all, copies(stage) > 1);
  const UpdateBytes dense{both.whole - experts.whole, both.part - experts.part};
  const bool whole = zero() < 2 || options_.keep;
  if (whole) return both.whole + sharded(dense.part, stage, false) + sharded(experts.part, stage, true);
  return sharded(dense.whole + dense.part, stage, false) + sharded(experts.whole + experts.part, stage, true);
}

StepBuilder::UpdateBytes StepBuilder::update_bytes(const StageState& all, bool averaged) const {
  UpdateBytes bytes;
  bytes.whole = all.gradients + (averaged ? 2 * all.gradients : 0);
  const Bytes wide = wide_gradients(all.parameters, all.gradients);
  if (all.gradients < wide) bytes.part += all.gradients + wide;
  if (options_.loss_scaling) bytes.part += 2 * wide;
  if (options_.norm != NormMode::kNone) bytes.part += 2 * wide;
  bytes.part += wide + 2 * all.optimizer;
  bytes.part += std::max(2, options_.master_ratio + 1) * all.parameters;
  return bytes;
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
  add_gather(stage, bucketed(Kind::kParameterGather, stage, groups, CollectiveKind::kAllGather, bytes, of));
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
