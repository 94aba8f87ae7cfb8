#include "cost_models/step/groups.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include "cost_models/collectives/nccl_model.hpp"

namespace debubble {

namespace {

// On ideal links every rank has a port of its own: two links to a crossbar, one there and one back.
class PortRouter final : public Router {
 public:
  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const override {
    if (from != to) links.insert(links.end(), {2 * from, 2 * to + 1});
  }
};

LinkGraph port_graph(std::size_t ranks, const Topology& topology) {
  LinkGraph graph;
  graph.name = "ideal links";
  const auto crossbar = static_cast<std::int32_t>(ranks);
  for (std::int32_t rank = 0; rank < crossbar; ++rank) {
    graph.nodes.emplace_back();
    graph.devices.push_back(rank);
    graph.links.push_back({rank, crossbar, topology.bandwidth(), topology.latency(), true, ""});
    graph.links.push_back({crossbar, rank, topology.bandwidth(), 0, true, ""});
  }
  graph.nodes.push_back({GraphNode::Kind::kSwitch, "crossbar"});
  graph.router = std::make_shared<PortRouter>();
  return graph;
}

// Calibration: everything takes 1 / scale of the time.
CollectiveModel scaled(CollectiveModel model, double scale) {
  if (scale == 1) return model;
  const auto shorten = [&](Nanoseconds& time) { time = static_cast<Nanoseconds>(static_cast<double>(time) / scale); };
  const auto apply = [&](auto& figures) {
    shorten(figures.base_latency);
    shorten(figures.step_latency);
    shorten(figures.far_latency);
    figures.efficiency *= scale;
  };
  apply(model);
  for (CollectiveProtocol& protocol : model.protocols) apply(protocol);
  return model;
}

}  // namespace

RankGroups replica_groups(const RankLayout& layout, const std::vector<std::int32_t>& places, bool experts) {
  const Parallelism& sizes = layout.sizes;
  const int ranks = sizes.data * sizes.context;
  const int parts = experts ? std::max(1, sizes.expert) : 1;
  RankGroups groups;
  for (int tensor = 0; tensor < sizes.tensor; ++tensor) {
    for (int part = 0; part < parts; ++part) {
      std::vector<std::int32_t>& group = groups.emplace_back();
      for (const std::int32_t place : places) {
        for (int rank = part; rank < ranks; rank += parts) {
          group.push_back(layout.device(tensor, rank % sizes.context, rank / sizes.context, place));
        }
      }
    }
  }
  return groups;
}

RankGroups place_groups(const RankLayout& layout, const std::vector<std::int32_t>& places, int replica) {
  const Parallelism& sizes = layout.sizes;
  const int first = replica < 0 ? 0 : replica;
  const int last = replica < 0 ? sizes.data - 1 : replica;
  RankGroups groups;
  for (int data = first; data <= last; ++data) {
    for (int context = 0; context < sizes.context; ++context) {
      for (int tensor = 0; tensor < sizes.tensor; ++tensor) {
        std::vector<std::int32_t>& group = groups.emplace_back();
        for (const std::int32_t place : places) group.push_back(layout.device(tensor, context, data, place));
      }
    }
  }
  return groups;
}

RankGroups job_groups(const RankLayout& layout, bool across_data) {
  const Parallelism& sizes = layout.sizes;
  RankGroups groups(1);
  for (int data = 0; data < sizes.data; ++data) {
    for (int context = 0; context < sizes.context; ++context) {
      if (!across_data && !groups.back().empty()) groups.emplace_back();
      for (int place = 0; place < sizes.pipeline; ++place) {
        for (int tensor = 0; tensor < sizes.tensor; ++tensor) {
          groups.back().push_back(layout.device(tensor, context, data, place));
        }
      }
    }
  }
  return groups;
}

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
  const int domains = network_ == nullptr ? 1 : domains_reached(network_->graph, groups);
  if (generation()) model = nccl_model(*generation(), domains, kind);
  model.density = request_->options.density;
  return scaled(std::move(model), request_->options.network_scale);
}

CollectivePlan StepPlanner::plan(const RankGroups& groups, CollectiveKind kind, Bytes bytes,
                                 CollectiveAlgorithm algorithm) const {
  CollectiveModel how = model(groups, kind);
  how.algorithm = algorithm;
  if (network_ != nullptr) return plan_collective(network_->graph, groups, kind, bytes, how);
  // Groups do not meet on ideal links: one of them speaks for all.
  const std::size_t ranks = groups.front().size();
  std::vector<std::int32_t> group(ranks);
  std::iota(group.begin(), group.end(), 0);
  return plan_collective(port_graph(ranks, *request_->topology), {group}, kind, bytes, how);
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
  return where + ", with NCCL's latencies and protocols for " + to_string(*generation());
}

Source StepPlanner::model_source() const { return generation() ? Source::kPublished : Source::kDefault; }

}  // namespace debubble
