// Collectives inside a layer: over a cluster's links, or with the hardware's own link figures.
#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cost_models/transformer/known_layers.hpp"

namespace debubble {
namespace {

// All groups of that dimension on one device of the pipeline, each once.
std::vector<std::vector<std::int32_t>> rank_groups(Dimension dimension, const RankLayout& layout, int place) {
  std::set<std::vector<std::int32_t>> groups;
  // The ranks of a group name it alike.
  const auto count = [&](Dimension inside, int size) { return dimension == inside ? 1 : size; };
  for (int tensor = 0; tensor < count(Dimension::kTensor, layout.sizes.tensor); ++tensor) {
    for (int context = 0; context < count(Dimension::kContext, layout.sizes.context); ++context) {
      for (int data = 0; data < count(Dimension::kData, layout.sizes.data); ++data) {
        groups.insert(layout.group(dimension, tensor, context, data, place));
      }
    }
  }
  return {groups.begin(), groups.end()};
}

// A switch that only this group uses.
LinkGraph own_switch(int ranks, const Hardware& hardware) {
  LinkGraph graph;
  graph.name = "one switch";
  graph.nodes.push_back({GraphNode::Kind::kSwitch, "switch"});
  for (int rank = 0; rank < ranks; ++rank) {
    const auto node = static_cast<std::int32_t>(graph.nodes.size());
    graph.nodes.push_back({GraphNode::Kind::kDevice, "gpu" + std::to_string(rank)});
    graph.devices.push_back(node);
    graph.domain.push_back(0);
    for (const bool up : {true, false}) {
      Link link;
      link.from = up ? node : 0;
      link.to = up ? 0 : node;
      link.bandwidth = hardware.link_bandwidth;
      link.latency = hardware.link_latency / 2;
      graph.links.push_back(link);
    }
  }
  graph.router = shortest_paths(graph);
  return graph;
}

OpTime time_on(const LinkGraph& graph, const std::vector<std::vector<std::int32_t>>& groups, const LayerOp& op,
               Bytes bytes, const ModelRequest& request, KnownDrafts* drafts) {
  CollectiveModel model =
      request.generation ? nccl_model_on(graph, groups, *request.generation, op.collective) : request.collectives;
  if (!request.setup.effects.measured_collectives) model.measured.reset();
  if (!request.setup.effects.slowed_compute) model.slow_down = 0;
  if (sends_tokens(op.exchange.dispatch)) {
    return {exchange_time(graph, groups, op.exchange, bytes), model.slow_down};
  }
  return {plan_collective(graph, groups, op.collective, bytes, model, drafts).duration, model.slow_down};
}

// Writes links down so that equal ones read the same, whatever numbers their links have in the graph.
class LinkReader {
 public:
  explicit LinkReader(const LinkGraph& graph) : graph_(graph) {}

  // The routes of all pairs, in the order of the group.
  void read(const std::vector<std::int32_t>& group) {
    text_.push_back(kGroup);
    for (const std::int32_t device : group) {
      if (!graph_.domain.empty()) text_.push_back(number_of(domains_, graph_.domain[at(device)]));
    }
    for (const std::int32_t from : group) {
      for (const std::int32_t to : group) read_route(from, to);
    }
  }

  std::vector<std::int64_t> take() { return std::move(text_); }

 private:
  using Numbers = std::unordered_map<std::int32_t, std::int64_t>;
  static constexpr std::int64_t kGroup = -1;
  static constexpr std::int64_t kRoute = -2;

  static std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }
  static std::int64_t number_of(Numbers& known, std::int32_t index) {
    return known.try_emplace(index, static_cast<std::int64_t>(known.size())).first->second;
  }

  void read_route(std::int32_t from, std::int32_t to) {
    route_.clear();
    graph_.router->route(from, to, route_);
    text_.push_back(kRoute);
    for (const std::int32_t link : route_) {
      const bool is_new = !links_.contains(link);
      text_.push_back(number_of(links_, link));
      if (is_new) describe(graph_.links[at(link)]);
    }
  }

  void describe(const Link& link) {
    text_.insert(text_.end(), {link.bandwidth, link.latency, link.shared ? 1 : 0, number_of(nodes_, link.from),
                               number_of(nodes_, link.to), graph_.nodes[at(link.to)].reduces ? 1 : 0});
  }

  const LinkGraph& graph_;
  Numbers links_;
  Numbers nodes_;
  Numbers domains_;
  std::vector<std::int32_t> route_;
  std::vector<std::int64_t> text_;
};

}  // namespace

std::vector<std::int64_t> links_inside(const ModelRequest& request) {
  if (request.graph == nullptr || request.layout == nullptr) return {};
  LinkReader reader(*request.graph);
  for (const Dimension dimension :
       {Dimension::kTensor, Dimension::kContext, Dimension::kExpert, Dimension::kExpertTensor}) {
    if (group_size(request.setup.parallel, dimension) < 2) continue;
    for (const auto& group : rank_groups(dimension, *request.layout, request.place)) reader.read(group);
  }
  return reader.take();
}

OpTime collective_time(const LayerOp& op, const ModelRequest& request) {
  const int ranks = group_size(request.setup.parallel, op.group);
  if (ranks < 2 || op.collective_bytes == 0) return {};
  // All wait for the rank that gets most.
  const auto bytes = static_cast<Bytes>(std::llround(static_cast<double>(op.collective_bytes) * op.imbalance));
  OpTime time;
  if (request.graph != nullptr && request.layout != nullptr) {
    const auto planned = [&] {
      return time_on(*request.graph, rank_groups(op.group, *request.layout, request.place), op, bytes, request,
                     request.drafts);
    };
    const bool usual = request.setup.effects == ModelEffects{};
    const bool kept = request.layers != nullptr && request.generation && usual;
    time = kept ? request.layers->time(op, bytes, request, planned) : planned();
  } else {
    std::vector<std::int32_t> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    time = time_on(own_switch(ranks, request.kernels.hardware), {all}, op, bytes, request, nullptr);
  }
  time.alone = std::llround(static_cast<double>(time.alone) / request.kernels.efficiency.network_scale);
  return time;
}

}  // namespace debubble
