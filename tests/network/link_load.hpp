// How often each link of a graph is crossed: the check of everything that routers promise.
#pragma once

#include <vector>

#include "sim/core/link_graph.hpp"

namespace debubble::testing {

// A route, checked: it begins at one device, ends at the other, and each link starts where the one before ended.
std::vector<std::int32_t> checked_route(const LinkGraph& graph, std::int32_t from, std::int32_t to);
void check_chain(const LinkGraph& graph, std::int32_t from_node, std::int32_t to_node,
                 const std::vector<std::int32_t>& links);

// By link: messages, when every device sends one to each other device.
std::vector<double> all_to_all_load(const LinkGraph& graph);

std::int32_t link_count(const LinkGraph& graph, std::int32_t from, std::int32_t to);

}  // namespace debubble::testing
