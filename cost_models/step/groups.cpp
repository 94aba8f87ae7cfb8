#include "cost_models/step/groups.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include "cost_models/collectives/measured.hpp"
#include "cost_models/collectives/nccl_model.hpp"

namespace debubble {

namespace {

RankGroups anybody(std::size_t ranks) {
  RankGroups groups{std::vector<std::int32_t>(ranks)};
  std::iota(groups.front().begin(), groups.front().end(), 0);
  return groups;
}

}  // namespace

StepPlanner::StepPlanner(const StepRequest& request) : request_(&request), network_(request.topology->network()) {
  if (network_ != nullptr) layout_ = network_->layout;
  layout_.sizes = request.parallel;
  layout_.sizes.pipeline = request.schedule->devices;
}

std::optional<LinkGeneration> StepPlanner::generation() const {
  const auto named = network_ == nullptr ? std::nullopt : link_generation(network_->graph.name);
  return named ? named : request_->generation;
}

CollectiveModel StepPlanner::model(const RankGroups& groups, CollectiveKind kind) const {
  CollectiveModel model;
  if (generation()) {
    model = network_ == nullptr ? nccl_model(*generation(), 1, kind)
                                : nccl_model_on(network_->graph, groups, *generation(), kind);
  }
  model.density = request_->options.density;
  model.scale = request_->options.network_scale;
  return model;
}

RankGroups StepPlanner::replica_groups(const std::vector<std::int32_t>& places, bool experts) const {
  const Parallelism& sizes = layout_.sizes;
  const auto copies = static_cast<std::size_t>(experts ? sizes.expert_copies() : sizes.copies());
  if (network_ == nullptr) return anybody(places.size() * copies);
  const int parts = experts ? sizes.split_of_expert() * std::max(1, sizes.expert) : sizes.tensor;
  const int ranks = sizes.tensor * sizes.context * sizes.data;
  RankGroups groups;
  for (int part = 0; part < parts; ++part) {
    std::vector<std::int32_t>& group = groups.emplace_back();
    for (const std::int32_t place : places) {
      for (int rank = part; rank < ranks; rank += parts) group.push_back(layout_.device_of_stage(rank, place));
    }
  }
  return groups;
}

RankGroups StepPlanner::place_groups(const std::vector<std::int32_t>& places, int replica) const {
  if (network_ == nullptr) return anybody(places.size());
  const Parallelism& sizes = layout_.sizes;
  const int first = replica < 0 ? 0 : replica;
  const int last = replica < 0 ? sizes.data - 1 : replica;
  RankGroups groups;
  for (int data = first; data <= last; ++data) {
    for (int context = 0; context < sizes.context; ++context) {
      for (int tensor = 0; tensor < sizes.tensor; ++tensor) {
        std::vector<std::int32_t>& group = groups.emplace_back();
        for (const std::int32_t place : places) group.push_back(layout_.device(tensor, context, data, place));
      }
    }
  }
  return groups;
}

RankGroups StepPlanner::job_group(bool across_data) const {
  const Parallelism& sizes = layout_.sizes;
  if (network_ == nullptr) {
    return anybody(static_cast<std::size_t>(sizes.ranks() / (across_data ? 1 : sizes.data * sizes.context)));
  }
  RankGroups groups(1);
  for (int data = 0; data < (across_data ? sizes.data : 1); ++data) {
    for (int context = 0; context < (across_data ? sizes.context : 1); ++context) {
      for (int place = 0; place < sizes.pipeline; ++place) {
        for (int tensor = 0; tensor < sizes.tensor; ++tensor) {
          groups.front().push_back(layout_.device(tensor, context, data, place));
        }
      }
    }
  }
  return groups;
}

CollectivePlan StepPlanner::plan(const RankGroups& groups, CollectiveKind kind, Bytes bytes,
                                 CollectiveAlgorithm algorithm) const {
  CollectiveModel how = model(groups, kind);
  how.algorithm = algorithm;
  if (network_ != nullptr) return plan_collective(network_->graph, groups, kind, bytes, how, request_->drafts);
  return plan_on_ports(groups.front().size(), request_->topology->bandwidth(), request_->topology->latency(), kind,
                       bytes, how);
}

std::vector<Flow> StepPlanner::phases(const CollectivePlan& plan) const {
  return network_ != nullptr && network_->model == NetworkModel::kFluid ? plan.phases : std::vector<Flow>{};
}

double StepPlanner::slow_down(const RankGroups& groups) const {
  if (request_->options.slow_down) return *request_->options.slow_down;
  return model(groups, CollectiveKind::kAllReduce).slow_down;
}

std::string StepPlanner::model_text() const {
  const std::string where = network_ == nullptr ? "a port for each rank on ideal links" : "on the cluster's links";
  if (!generation()) return where + ", with no latency but theirs";
  return where + ", with NCCL's latencies and protocols for " + to_string(*generation()) +
         (network_ == nullptr ? "" : measured_text(network_->graph.name));
}

Source StepPlanner::model_source() const { return generation() ? Source::kPublished : Source::kDefault; }

}  // namespace debubble
