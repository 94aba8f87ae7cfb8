#include "cost_models/step/builder.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

void append(std::vector<std::int32_t>& to, const std::vector<std::int32_t>& from) {
  for (const std::int32_t task : from) {
    if (std::find(to.begin(), to.end(), task) == to.end()) to.push_back(task);
  }
}

}  // namespace

Nanoseconds part_of_share(Nanoseconds share, std::size_t stages, int chunks) {
  return std::llround(static_cast<double>(share) * static_cast<double>(stages) / chunks);
}

StepBuilder::StepBuilder(const StepRequest& request)
    : request_(request),
      options_(request.options),
      schedule_(*request.schedule),
      planner_(request),
      done_(static_cast<std::size_t>(request.schedule->devices)) {}

StepWork StepBuilder::run() {
  for (int stage = 0; stage < schedule_.stages && gathers_before(); ++stage) gather(stage);
  for (int stage = schedule_.stages - 1; stage >= 0; --stage) reduce(stage);  // in the order of the backward
  reduce_embedding();
  norm();
  for (int device = 0; device < schedule_.devices; ++device) optimizer(device);
  for (int stage = 0; stage < schedule_.stages && gathers_after(); ++stage) gather(stage);
  return std::move(work_);
}

StepWork StepBuilder::run_replica_sums() {
  for (int stage = schedule_.stages - 1; stage >= 0; --stage) {
    if (places(stage).size() > 1) reduce(stage);
  }
  return std::move(work_);
}

StepBuilder::Places StepBuilder::places(int stage) const {
  std::set<std::int32_t> found;
  for (int replica = 0; replica < schedule_.placement.replicas(); ++replica) {
    found.insert(schedule_.placement.device_of(replica, stage));
  }
  return {found.begin(), found.end()};
}

std::vector<StageName> StepBuilder::names(int stage) const {
  std::vector<StageName> found;
  for (int replica = 0; replica < schedule_.placement.replicas(); ++replica) found.push_back({replica, stage});
  return found;
}

std::vector<StageName> StepBuilder::names_on(std::int32_t device) const {
  std::vector<StageName> found;
  for (int replica = 0; replica < schedule_.placement.replicas(); ++replica) {
    for (int stage = 0; stage < schedule_.stages; ++stage) {
      if (schedule_.placement.device_of(replica, stage) == device) found.push_back({replica, stage});
    }
  }
  return found;
}

std::vector<StageName> StepBuilder::states_on(std::int32_t device) const {
  std::vector<StageName> found = names_on(device);
  if (!schedule_.replicas_share_weights) return found;
  std::erase_if(found,
                [&](const StageName& name) { return holds_before(schedule_.placement, name.replica, name.stage); });
  return found;
}

std::int64_t StepBuilder::copies(int stage, bool experts) const {
  const Parallelism& sizes = request_.parallel;
  return (experts ? sizes.expert_copies() : sizes.copies()) * static_cast<int>(places(stage).size());
}

Bytes StepBuilder::sharded(Bytes all, int stage, bool experts) const {
  if (zero() == 0) return all;
  const std::int64_t ranks = copies(stage, experts);
  return (all + ranks - 1) / ranks;
}

Nanoseconds StepBuilder::memory_time(Bytes bytes) const {
  if (options_.memory_bandwidth == 0) return 0;
  constexpr double kNanosecondsPerSecond = 1e9;
  return static_cast<Nanoseconds>(
      std::ceil(static_cast<double>(bytes) * kNanosecondsPerSecond / static_cast<double>(options_.memory_bandwidth)));
}

std::int32_t StepBuilder::add(StepTask task) {
  // Times that were given have no collective model; kernels of a norm are too few to count.
  const bool beside = task.lane == StepTask::Lane::kCollective && task.kind != StepTask::Kind::kGlobalNorm;
  if (beside && options_.slow_down) task.slow_down = *options_.slow_down;
  work_.tasks.push_back(std::move(task));
  return static_cast<std::int32_t>(work_.tasks.size()) - 1;
}

StepTask StepBuilder::collective(StepTask::Kind kind, const Places& devices, const RankGroups& groups,
                                 const CollectivePlan& plan, Bytes bytes, const std::string& of) const {
  StepTask task = given(kind, devices, plan.duration, of + ": " + plan.text);
  std::vector<Flow> phases = planner_.phases(plan);
  if (!phases.empty()) task.phases.push_back(std::move(phases));
  task.bytes = bytes;
  task.slow_down = planner_.slow_down(groups);
  return task;
}

StepTask StepBuilder::given(StepTask::Kind kind, const Places& devices, Nanoseconds duration, std::string what) {
  StepTask task;
  task.kind = kind;
  task.devices = devices;
  task.duration = duration;
  task.what = std::move(what);
  return task;
}

void StepBuilder::wait_for(const Places& devices, StepTask& task) const {
  for (const std::int32_t device : devices) {
    append(task.after, at(done_, device));
    const std::vector<StageName> stages = names_on(device);
    task.after_stages.insert(task.after_stages.end(), stages.begin(), stages.end());
  }
}

}  // namespace debubble
