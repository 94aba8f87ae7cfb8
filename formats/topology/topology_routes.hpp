// Which routes messages take in a graph that came from a file.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/link_graph.hpp"

namespace debubble {

inline constexpr std::string_view kTopologySchema = "debubble.topology/1";

// "there is no route from gpu0 to gpu3", or "" where every device reaches every other.
[[nodiscard]] std::string unreachable_device(const LinkGraph& graph);

// Takes the router of the preset, whose nodes and links must be the graph's in name and order; rates and latencies may
// differ. What does not fit, or "".
[[nodiscard]] std::string take_routes_of_preset(const std::string& preset, LinkGraph& graph);

// Whether the graph is named after a preset that has its nodes and links.
[[nodiscard]] bool has_routes_of_preset(const LinkGraph& graph);

}  // namespace debubble
