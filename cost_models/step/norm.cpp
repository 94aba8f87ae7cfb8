// The norm of all gradients, without which nobody knows whether to clip or to skip the update.
#include <utility>

#include "cost_models/step/builder.hpp"

namespace debubble {

using Kind = StepTask::Kind;

namespace {

constexpr Bytes kNormBytes = 8;  // one sum of squares

}  // namespace

void StepBuilder::norm() {
  if (options_.norm == NormMode::kNone || !(options_.times.norm || computed())) return;
  for (int device = 0; device < schedule_.devices; ++device) local_norm(device);
  if (options_.norm == NormMode::kBarrier) {
    norm_barrier();
  } else {
    norm_chain();
  }
}

// One pass over the gradients that a device updates with; a part of the norm's time where that was given.
void StepBuilder::local_norm(std::int32_t device) {
  if (options_.times.norm) return;
  Bytes bytes = 0;
  for (const StageName& name : states_on(device)) {
    const StageState& all = state(name.stage);
    const Bytes experts = wide_gradients(all.expert_parameters, all.expert_gradients);
    const Bytes both = wide_gradients(all.parameters, all.gradients);
    bytes += sharded(both - experts, name.stage, false) + sharded(experts, name.stage, true);
  }
  const Nanoseconds time = memory_time(bytes);
  if (time == 0) return;
  StepTask task = given(Kind::kGlobalNorm, {device}, time, "squares of its gradients");
  task.lane = StepTask::Lane::kCompute;
  task.bytes = bytes;
  wait_for({device}, task);
  done(device) = {add(std::move(task))};
}

void StepBuilder::norm_barrier() {
  Places all;
  for (int device = 0; device < schedule_.devices; ++device) all.push_back(device);
  StepTask task;
  if (options_.times.norm) {
    task = given(Kind::kGlobalNorm, all, *options_.times.norm, "norm of all gradients");
  } else {
    // With sharded gradients every rank has its part; else every data rank has them all.
    const RankGroups groups = planner_.job_group(zero() > 0);
    constexpr std::size_t kMany = 256;  // beyond it a tree is always faster
    const bool many = groups.front().size() > kMany;
    const CollectivePlan plan = planner_.plan(groups, CollectiveKind::kAllReduce, kNormBytes,
                                              many ? CollectiveAlgorithm::kTree : CollectiveAlgorithm::kAuto);
    task = given(Kind::kGlobalNorm, all, plan.duration, "norm of all gradients: " + plan.text);
    task.bytes = kNormBytes;
  }
  task.across_replicas = zero() > 0 && across();
  wait_for(all, task);
  const std::int32_t number = add(std::move(task));
  for (const std::int32_t device : all) done(device) = {number};
}

// A device adds its part to what it got from the one before, hands the sum on, and updates with it. The whole norm
// comes back during the next step's warm-up; an update that it forbids is taken back then.
void StepBuilder::norm_chain() {
  for (std::int32_t device = 1; device < schedule_.devices; ++device) {
    StepTask task;
    const std::string what = "partial norm of the devices before";
    if (options_.times.norm) {
      task = given(Kind::kGlobalNorm, {device}, *options_.times.norm, what);
    } else {
      const RankGroups groups = planner_.place_groups({device - 1, device}, -1);
      const CollectivePlan plan = planner_.plan(groups, CollectiveKind::kBroadcast, kNormBytes);
      task = given(Kind::kGlobalNorm, {device}, plan.duration, what);
      task.bytes = kNormBytes;
    }
    wait_for({device - 1}, task);
    done(device).push_back(add(std::move(task)));
  }
}

}  // namespace debubble
