// Gradients: over the ranks that hold the same weights, and between the ends of the model where these share a matrix.
#include <algorithm>
#include <utility>

#include "cost_models/step/builder.hpp"

namespace debubble {

using Kind = StepTask::Kind;

void StepBuilder::reduce(int stage) {
  const std::string of = "gradients of stage " + std::to_string(stage);
  if (options_.times.reduce) {
    const Nanoseconds time = part_of_share(*options_.times.reduce, 1, schedule_.chunks);
    add_reduce(stage, given(Kind::kGradientReduce, places(stage), time, of));
  } else if (computed() && (zero() < 2 || options_.keep)) {
    const Bytes experts = state(stage).expert_gradients;
    reduce_bytes(stage, state(stage).gradients - experts, false, of);
    reduce_bytes(stage, experts, true, of + ", experts");
  }
}

void StepBuilder::reduce_bytes(int stage, Bytes bytes, bool experts, const std::string& of) {
  const Places devices = places(stage);
  const RankGroups groups = planner_.replica_groups(devices, experts);
  if (bytes == 0 || groups.front().size() < 2) return;
  const CollectiveKind kind = zero() == 0 ? CollectiveKind::kAllReduce : CollectiveKind::kReduceScatter;
  add_reduce(stage, bucketed(Kind::kGradientReduce, stage, groups, kind, bytes, of));
}

void StepBuilder::add_reduce(int stage, StepTask task) {
  const Places devices = task.devices;
  task.across_replicas = across();
  if (options_.reduce == GradientReduce::kOverlap) {
    task.after_stages = names(stage);
  } else {
    for (const std::int32_t device : devices) {
      const std::vector<StageName> all = names_on(device);
      task.after_stages.insert(task.after_stages.end(), all.begin(), all.end());
    }
  }
  const std::int32_t number = add(std::move(task));
  for (const std::int32_t device : devices) done(device).push_back(number);
}

void StepBuilder::reduce_embedding() {
  const int last = schedule_.stages - 1;
  const bool given_time = options_.times.embedding.has_value();
  if (!given_time && (!computed() || request_.tied_embedding == 0)) return;
  // Where the same devices hold both ends (a V, Chimera), each adds up its own.
  if (places(0) == places(last)) return;
  std::vector<Places> pairs;
  for (int replica = 0; replica < schedule_.placement.replicas(); ++replica) {
    Places pair{schedule_.placement.device_of(replica, 0), schedule_.placement.device_of(replica, last)};
    if (pair[0] == pair[1] || std::find(pairs.begin(), pairs.end(), pair) != pairs.end()) continue;
    pairs.push_back(std::move(pair));
  }
  for (const Places& pair : pairs) {
    StepTask task =
        given_time ? given(Kind::kEmbeddingReduce, pair, *options_.times.embedding, "gradients of the tied embedding")
                   : embedding_task(pair);
    task.after_stages = names(0);
    const std::vector<StageName> others = names(last);
    task.after_stages.insert(task.after_stages.end(), others.begin(), others.end());
    for (const std::int32_t device : pair) {
      for (const std::int32_t before : done(device)) {
        if (std::find(task.after.begin(), task.after.end(), before) == task.after.end()) task.after.push_back(before);
      }
    }
    const std::int32_t number = add(std::move(task));
    for (const std::int32_t device : pair) done(device).push_back(number);
  }
}

StepTask StepBuilder::embedding_task(const Places& pair) const {
  const Bytes bytes = request_.tied_embedding;
  const RankGroups groups = planner_.place_groups(pair, -1);
  const CollectivePlan plan = planner_.plan(groups, CollectiveKind::kAllReduce, bytes);
  StepTask task = collective(Kind::kEmbeddingReduce, pair, groups, plan, bytes, "gradients of the tied embedding");
  const Topology& topology = *request_.topology;
  if (topology.network() == nullptr || topology.network()->model == NetworkModel::kFifo) return task;
  // Each pipeline replica sends over its own ranks' links; those of several meet in the engine, or not at all.
  task.phases.clear();
  task.duration = 0;
  for (int replica = 0; replica < request_.parallel.data; ++replica) {
    const RankGroups own = planner_.place_groups(pair, replica);
    const CollectivePlan alone = planner_.plan(own, CollectiveKind::kAllReduce, bytes);
    task.duration = std::max(task.duration, alone.duration);
    if (topology.contended()) task.phases.push_back(planner_.phases(alone));
  }
  return task;
}

}  // namespace debubble
