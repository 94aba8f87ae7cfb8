#include "sim/core/link_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

bool Router::host_route(std::int32_t, bool, std::vector<std::int32_t>&) const { return false; }

namespace {

constexpr std::int32_t kNoLink = -1;

// The next hop of every node towards one target.
struct RouteTree {
  std::vector<std::int32_t> next;   // by node: the link to take; kNoLink at the target and where there is no route
  std::vector<std::int32_t> count;  // by node: links to the target; kNoLink: no route
  std::vector<Nanoseconds> latency;
};

struct GraphEdge {
  std::int32_t link;
  std::int32_t from;
  std::int32_t to;
  Nanoseconds latency;
};

// Built target by target, when asked: most pairs of a large graph never speak.
class ShortestPaths final : public Router {
 public:
  explicit ShortestPaths(const LinkGraph& graph) : devices_(graph.devices), first_(graph.nodes.size() + 1) {
    for (std::size_t k = 0; k < graph.links.size(); ++k) {
      const Link& link = graph.links[k];
      if (!link.cut) edges_.push_back({static_cast<std::int32_t>(k), link.from, link.to, link.latency});
    }
    std::stable_sort(edges_.begin(), edges_.end(), [](const GraphEdge& a, const GraphEdge& b) { return a.to < b.to; });
    for (const GraphEdge& edge : edges_) ++first_[static_cast<std::size_t>(edge.to) + 1];
    for (std::size_t k = 1; k < first_.size(); ++k) first_[k] += first_[k - 1];
    for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
      names_.push_back(graph.nodes[k].name);
      if (graph.nodes[k].kind == GraphNode::Kind::kHost) hosts_.push_back(static_cast<std::int32_t>(k));
    }
    for (const Link& link : graph.links) ends_.push_back(link.to);
  }

  void route(std::int32_t from_device, std::int32_t to_device, std::vector<std::int32_t>& links) const override {
    walk(devices_[to_index(from_device)], devices_[to_index(to_device)], links);
  }

  // The nearest host in the direction away from the device; the one with the lowest number of several.
  bool host_route(std::int32_t device, bool to_host, std::vector<std::int32_t>& links) const override {
    const std::int32_t node = devices_[to_index(device)];
    std::int32_t host = kNoLink;
    std::pair<std::int32_t, Nanoseconds> best{std::numeric_limits<std::int32_t>::max(), 0};
    for (const std::int32_t candidate : hosts_) {
      const RouteTree& tree = tree_to(candidate);
      const auto at = static_cast<std::size_t>(node);
      const std::pair<std::int32_t, Nanoseconds> distance{tree.count[at], tree.latency[at]};
      if (distance.first == kNoLink || distance >= best) continue;
      best = distance;
      host = candidate;
    }
    if (host == kNoLink) return false;
    walk(to_host ? node : host, to_host ? host : node, links);
    return true;
  }

 private:
  void walk(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const {
    const RouteTree& tree = tree_to(to);
    if (tree.count[to_index(from)] == kNoLink) {
      throw InputError(Diagnostic{"B028", "",
                                  "there is no route from " + names_[to_index(from)] + " to " + names_[to_index(to)],
                                  "join them by links, or cut fewer"});
    }
    while (from != to) {
      const std::int32_t link = tree.next[to_index(from)];
      links.push_back(link);
      from = ends_[to_index(link)];
    }
  }

  const RouteTree& tree_to(std::int32_t target) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<RouteTree>& tree = trees_[target];
    if (tree == nullptr) tree = std::make_unique<RouteTree>(grow(target));
    return *tree;
  }

  // Ring after ring around the target; all of one ring have the same number of links to go.
  RouteTree grow(std::int32_t target) const {
    const std::size_t nodes = names_.size();
    RouteTree tree{std::vector<std::int32_t>(nodes, kNoLink), std::vector<std::int32_t>(nodes, kNoLink),
                   std::vector<Nanoseconds>(nodes, 0)};
    tree.count[to_index(target)] = 0;
    std::vector<std::int32_t> ring{target};
    for (std::int32_t distance = 1; !ring.empty(); ++distance) {
      std::vector<std::int32_t> outer;
      for (const std::int32_t inner : ring) reach_from(inner, distance, tree, outer);
      ring = std::move(outer);
    }
    return tree;
  }

  void reach_from(std::int32_t inner, std::int32_t distance, RouteTree& tree, std::vector<std::int32_t>& outer) const {
    const auto at = static_cast<std::size_t>(inner);
    for (std::size_t k = first_[at]; k < first_[at + 1]; ++k) {
      const GraphEdge& edge = edges_[k];
      const auto node = static_cast<std::size_t>(edge.from);
      if (tree.count[node] != kNoLink && tree.count[node] != distance) continue;
      const Nanoseconds latency = tree.latency[at] + edge.latency;
      if (tree.count[node] == kNoLink) {
        outer.push_back(edge.from);
      } else if (std::pair(tree.latency[node], tree.next[node]) <= std::pair(latency, edge.link)) {
        continue;
      }
      tree.count[node] = distance;
      tree.latency[node] = latency;
      tree.next[node] = edge.link;
    }
  }

  std::vector<std::int32_t> devices_;
  std::vector<std::size_t> first_;  // by node: of its incoming edges
  std::vector<GraphEdge> edges_;    // by the node they end in
  std::vector<std::int32_t> ends_;  // by link
  std::vector<std::string> names_;  // by node
  std::vector<std::int32_t> hosts_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::int32_t, std::unique_ptr<RouteTree>> trees_;  // by target
};

}  // namespace

std::shared_ptr<const Router> shortest_paths(const LinkGraph& graph) { return std::make_shared<ShortestPaths>(graph); }

}  // namespace debubble
