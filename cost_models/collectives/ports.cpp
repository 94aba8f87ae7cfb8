// Ideal links: every rank has a port of its own. All ports are alike, so one of them shows what a ring or a tree takes.
#include <cstddef>
#include <memory>
#include <utility>

#include "cost_models/collectives/algorithms.hpp"

namespace debubble::collectives {

namespace {

class PortRouter final : public Router {
 public:
  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const override {
    if (from == to) return;
    links.push_back(2 * from);
    links.push_back(2 * to + 1);
  }
};

PhaseDraft on_one_port(double weight, double scale, std::int64_t messages, Nanoseconds latency) {
  PhaseDraft phase;
  phase.links = {{0, weight}, {3, weight}};
  phase.scale = scale;
  phase.messages = {messages, 0, messages * latency, 0};
  return phase;
}

}  // namespace

LinkGraph port_graph(std::size_t ranks, std::int64_t bandwidth, Nanoseconds latency) {
  LinkGraph graph;
  graph.name = "ideal links";
  const auto crossbar = static_cast<std::int32_t>(ranks);
  for (std::int32_t rank = 0; rank < crossbar; ++rank) {
    graph.nodes.emplace_back();
    graph.devices.push_back(rank);
    graph.links.push_back({rank, crossbar, bandwidth, latency, true, ""});
    graph.links.push_back({crossbar, rank, bandwidth, 0, true, ""});
  }
  graph.nodes.push_back({GraphNode::Kind::kSwitch, "crossbar"});
  graph.router = std::make_shared<PortRouter>();
  return graph;
}

Drafts draft_on_ports(CollectiveAlgorithm algorithm, std::size_t ranks, Nanoseconds latency, CollectiveKind kind) {
  const auto p = static_cast<std::int64_t>(ranks);
  const bool broadcast = kind == CollectiveKind::kBroadcast;
  const bool sums = kind == CollectiveKind::kAllReduce;
  if (algorithm == CollectiveAlgorithm::kRing) {
    if (broadcast) return {on_one_port(1, 1, p - 1, latency)};
    const std::int64_t rounds = sums ? 2 : 1;
    const double scale = static_cast<double>(rounds) / static_cast<double>(p);
    return {on_one_port(static_cast<double>(p - 1), scale, rounds * (p - 1), latency)};
  }
  if (algorithm != CollectiveAlgorithm::kTree || (!sums && !broadcast)) return {};
  // Within one domain a tree is a chain; an inner rank sends both ways where sums come back.
  const double weight = sums && p > 2 ? 4 : 2;
  return {on_one_port(weight, 0.5, (sums ? 2 : 1) * (p - 1), latency)};
}

}  // namespace debubble::collectives
