#include "sim/topologies/graph_builder.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble {

std::int64_t scaled_rate(std::int64_t rate, std::int64_t times, std::int64_t thousandths) {
  __extension__ using Wide = __int128;
  const Wide scaled = static_cast<Wide>(rate) * times * 1000 / thousandths;
  return static_cast<std::int64_t>(std::clamp(scaled, Wide{1}, static_cast<Wide>(kLargestSize)));
}

std::int32_t GraphBuilder::add_device(std::int32_t domain) {
  const std::int32_t node = add_node(GraphNode::Kind::kDevice, "gpu" + std::to_string(graph_.devices.size()));
  graph_.devices.push_back(node);
  graph_.domain.push_back(domain);
  return node;
}

std::int32_t GraphBuilder::add_node(GraphNode::Kind kind, std::string name) {
  graph_.nodes.push_back({kind, std::move(name)});
  return static_cast<std::int32_t>(graph_.nodes.size()) - 1;
}

std::int32_t GraphBuilder::add_reducing_switch(std::string name, bool reduces) {
  const std::int32_t node = add_node(GraphNode::Kind::kSwitch, std::move(name));
  graph_.nodes.back().reduces = reduces;
  return node;
}

std::int32_t GraphBuilder::add_link(std::int32_t from, std::int32_t to, LinkSpeed speed) {
  Link link;
  link.from = from;
  link.to = to;
  link.bandwidth = speed.bandwidth;
  link.latency = speed.latency;
  const std::string& begin = at(graph_.nodes, from).name;
  const std::string& end = at(graph_.nodes, to).name;
  link.name.reserve(begin.size() + end.size() + 1);
  link.name.append(begin).append(1, '>').append(end);
  graph_.links.push_back(std::move(link));
  return static_cast<std::int32_t>(graph_.links.size()) - 1;
}

std::int32_t GraphBuilder::connect(std::int32_t a, std::int32_t b, LinkSpeed speed) {
  const std::int32_t link = add_link(a, b, speed);
  add_link(b, a, speed);
  return link;
}

void GraphBuilder::reserve(std::size_t nodes, std::size_t links) {
  graph_.nodes.reserve(nodes);
  graph_.links.reserve(links);
}

LinkGraph GraphBuilder::finish(std::string name, std::shared_ptr<const Router> router) {
  graph_.name = std::move(name);
  graph_.router = router != nullptr ? std::move(router) : shortest_paths(graph_);
  return std::move(graph_);
}

}  // namespace debubble
