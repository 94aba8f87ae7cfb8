// The chain that a PipeDream graph is cut into; see pipedream.hpp for the rules.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/importers/pipedream_graph.hpp"

namespace debubble {

// Nodes of one layer, as indices into graph.nodes, in execution order.
using LayerNodes = std::vector<std::size_t>;

// All nodes but the inputs, every node after its predecessors, the smallest number first among those that are ready.
// Records G017 when there is a cycle, P016 when nothing is left to place, P006 when there is no Input.
[[nodiscard]] std::vector<std::size_t> execution_order(const PipedreamGraph& graph, ProblemList& problems);

// Consecutive nodes of `order`: a new layer begins with every node that takes time; the first layer also takes the
// timeless nodes before it.
[[nodiscard]] std::vector<LayerNodes> layers_of(const PipedreamGraph& graph, const std::vector<std::size_t>& order);

// Bytes that cross the boundary after each layer: every tensor made at or before it and needed after it, once.
// Records X001 when a sum is beyond kLargestSize.
[[nodiscard]] std::vector<Bytes> boundary_bytes(const PipedreamGraph& graph, const std::vector<LayerNodes>& layers,
                                                ProblemList& problems);

}  // namespace debubble
