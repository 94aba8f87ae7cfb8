// LinkClasses: links that the same routes cross count as one. The eight rails of eight tensor ranks, or a network
// card's two hops, limit the flows on them alike, so the tightest of them represents all. Internal to sim/engine.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/flow.hpp"
#include "sim/core/link_graph.hpp"

namespace debubble {

struct SharedRoute {
  std::vector<LinkShare> classes;  // `link` is the class
  double fastest = 0;              // bytes per nanosecond, alone in the network
};

struct LinkClasses {
  std::vector<double> capacity;     // by class, bytes per nanosecond
  std::vector<SharedRoute> routes;  // in the order given
};

[[nodiscard]] LinkClasses classify_links(const LinkGraph& graph, const std::vector<FlowPath>& routes);

}  // namespace debubble
