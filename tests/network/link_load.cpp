#include "tests/network/link_load.hpp"

#include "tests/support/test.hpp"

namespace debubble::testing {

void check_chain(const LinkGraph& graph, std::int32_t from_node, std::int32_t to_node,
                 const std::vector<std::int32_t>& links) {
  std::int32_t at = from_node;
  bool chained = true;
  for (const std::int32_t number : links) {
    const Link& link = graph.links.at(static_cast<std::size_t>(number));
    chained = chained && link.from == at && !link.cut;
    at = link.to;
  }
  REQUIRE(chained);
  REQUIRE(at == to_node);
}

std::vector<std::int32_t> checked_route(const LinkGraph& graph, std::int32_t from, std::int32_t to) {
  std::vector<std::int32_t> links;
  graph.router->route(from, to, links);
  check_chain(graph, graph.devices.at(static_cast<std::size_t>(from)), graph.devices.at(static_cast<std::size_t>(to)),
              links);
  return links;
}

std::int32_t link_count(const LinkGraph& graph, std::int32_t from, std::int32_t to) {
  return static_cast<std::int32_t>(checked_route(graph, from, to).size());
}

std::vector<double> all_to_all_load(const LinkGraph& graph) {
  std::vector<double> load(graph.links.size(), 0);
  std::vector<std::int32_t> links;
  for (std::int32_t from = 0; from < graph.device_count(); ++from) {
    for (std::int32_t to = 0; to < graph.device_count(); ++to) {
      links.clear();
      graph.router->route(from, to, links);
      for (const std::int32_t link : links) load[static_cast<std::size_t>(link)] += 1;
    }
  }
  return load;
}

}  // namespace debubble::testing
