#include "formats/topology/topology_routes.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/topologies/catalog.hpp"

namespace debubble {

namespace {

// By node: whether `start` reaches it along the links, or against them.
std::vector<bool> reached(const LinkGraph& graph, std::int32_t start, bool against) {
  std::vector<std::vector<std::int32_t>> next(graph.nodes.size());
  for (const Link& link : graph.links) {
    at(next, against ? link.to : link.from).push_back(against ? link.from : link.to);
  }
  std::vector<bool> seen(graph.nodes.size());
  std::vector<std::int32_t> open{start};
  at(seen, start) = true;
  while (!open.empty()) {
    const std::int32_t node = open.back();
    open.pop_back();
    for (const std::int32_t other : at(next, node)) {
      if (at(seen, other)) continue;
      at(seen, other) = true;
      open.push_back(other);
    }
  }
  return seen;
}

// What distinguishes the links of two graphs, or "".
std::string difference(const LinkGraph& graph, const LinkGraph& preset) {
  const auto same_node = [](const GraphNode& a, const GraphNode& b) { return a.kind == b.kind && a.name == b.name; };
  const auto same_link = [](const Link& a, const Link& b) { return a.from == b.from && a.to == b.to; };
  if (!std::equal(graph.nodes.begin(), graph.nodes.end(), preset.nodes.begin(), preset.nodes.end(), same_node)) {
    return "other nodes than " + preset.name;
  }
  if (!std::equal(graph.links.begin(), graph.links.end(), preset.links.begin(), preset.links.end(), same_link)) {
    return "other links than " + preset.name;
  }
  return {};
}

}  // namespace

std::string unreachable_device(const LinkGraph& graph) {
  const std::string first = at(graph.nodes, graph.devices.front()).name;
  for (const bool against : {false, true}) {
    const std::vector<bool> seen = reached(graph, graph.devices.front(), against);
    for (const std::int32_t device : graph.devices) {
      if (at(seen, device)) continue;
      const std::string other = at(graph.nodes, device).name;
      return "there is no route from " + (against ? other : first) + " to " + (against ? first : other);
    }
  }
  return {};
}

std::string take_routes_of_preset(const std::string& preset, LinkGraph& graph) {
  try {
    const LinkGraph model = build_topology(preset);
    if (std::string differs = difference(graph, model); !differs.empty()) return "the file has " + differs;
    graph.router = model.router;
    return {};
  } catch (const InputError& error) {
    return error.diagnostics().front().message;
  }
}

bool has_routes_of_preset(const LinkGraph& graph) {
  LinkGraph copy = graph;
  return take_routes_of_preset(graph.name, copy).empty();
}

}  // namespace debubble
