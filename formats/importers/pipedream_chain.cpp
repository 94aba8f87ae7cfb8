#include "formats/importers/pipedream_chain.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>

namespace debubble {
namespace {

constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);

bool takes_time(const PipedreamNode& node) { return node.forward > 0 || node.backward > 0; }

// Some cycle among the nodes that never became ready (waiting[k] > 0). Each of them has a predecessor of its kind, so
// walking backwards runs into a node seen before.
std::vector<std::size_t> find_cycle(const PipedreamGraph& graph, const std::vector<std::size_t>& waiting) {
  std::vector<std::size_t> waits_for(graph.nodes.size(), kNoNode);
  std::size_t current = kNoNode;
  for (std::size_t node = graph.nodes.size(); node-- > 0;) {
    if (waiting[node] == 0) continue;
    current = node;
    for (const std::size_t next : graph.nodes[node].successors) waits_for[next] = node;
  }
  std::vector<bool> seen(graph.nodes.size(), false);
  for (; !seen[current]; current = waits_for[current]) seen[current] = true;
  std::vector<std::size_t> cycle{current};
  for (std::size_t node = waits_for[current]; node != current; node = waits_for[node]) cycle.push_back(node);
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

void complain_cycle(const PipedreamGraph& graph, const std::vector<std::size_t>& cycle, ProblemList& problems) {
  constexpr std::size_t kMostShown = 8;
  std::string text;
  for (std::size_t k = 0; k < std::min(cycle.size(), kMostShown); ++k) text += graph.nodes[cycle[k]].name() + " -> ";
  if (cycle.size() > kMostShown) text += "... -> ";
  const PipedreamNode& first = graph.nodes[cycle.front()];
  problems.add("G017", problems.name() + ":" + std::to_string(first.line),
               "the nodes wait for each other: " + text + first.name(), "a layer graph has no cycles; remove an edge");
}

}  // namespace

std::vector<std::size_t> execution_order(const PipedreamGraph& graph, ProblemList& problems) {
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  std::vector<std::size_t> waiting(graph.nodes.size());
  std::size_t inputs = 0;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    inputs += graph.nodes[node].is_input() ? 1U : 0U;
    waiting[node] = graph.nodes[node].predecessors;
    if (waiting[node] == 0) ready.push(node);
  }
  std::vector<std::size_t> order;
  std::size_t visited = 0;
  for (; !ready.empty(); ++visited) {
    const std::size_t node = ready.top();
    ready.pop();
    if (!graph.nodes[node].is_input()) order.push_back(node);
    for (const std::size_t next : graph.nodes[node].successors) {
      if (--waiting[next] == 0) ready.push(next);
    }
  }
  if (visited < graph.nodes.size()) complain_cycle(graph, find_cycle(graph, waiting), problems);
  if (inputs == graph.nodes.size()) {
    problems.add("P016", problems.name(), "the graph has no layers", "is this a graph.txt of PipeDream's profiler?");
  } else if (inputs == 0) {
    problems.add("P006", problems.name(), "the graph has no Input node",
                 "PipeDream's profiler writes one, as in: node1 -- Input -- ...; without it the file is not whole");
  }
  return order;
}

std::vector<LayerNodes> layers_of(const PipedreamGraph& graph, const std::vector<std::size_t>& order) {
  std::vector<LayerNodes> layers;
  bool has_time = true;  // of the layer that is being filled; a first layer is opened at once
  for (const std::size_t node : order) {
    const bool timed = takes_time(graph.nodes[node]);
    if (layers.empty() || (timed && has_time)) {
      layers.emplace_back();
      has_time = false;
    }
    layers.back().push_back(node);
    has_time = has_time || timed;
  }
  return layers;
}

std::vector<Bytes> boundary_bytes(const PipedreamGraph& graph, const std::vector<LayerNodes>& layers,
                                  ProblemList& problems) {
  std::vector<std::size_t> layer_of(graph.nodes.size(), 0);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (const std::size_t node : layers[layer]) layer_of[node] = layer;
  }
  // A tensor is in flight from its maker's layer up to the one before its last reader's. No sum can overflow: all that
  // ends before one layer was in flight together after the layer before it, and more than kLargestSize is refused.
  std::vector<Bytes> ends_before(layers.size(), 0);
  std::vector<Bytes> result(layers.size(), 0);
  Bytes in_flight = 0;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    in_flight -= ends_before[layer];
    for (const std::size_t node : layers[layer]) {
      std::size_t last = layer;
      for (const std::size_t next : graph.nodes[node].successors) last = std::max(last, layer_of[next]);
      if (last == layer) continue;
      in_flight += graph.nodes[node].activation;
      ends_before[last] += graph.nodes[node].activation;
      if (in_flight > kLargestSize) {
        problems.add("X001", problems.name() + ":" + std::to_string(graph.nodes[node].line),
                     "the tensors that cross the boundary after this node are too large together",
                     "the largest sum is " + std::to_string(kLargestSize) + " bytes");
        return result;
      }
    }
    result[layer] = in_flight;
  }
  return result;
}

}  // namespace debubble
