// Clusters in JSON files, `debubble.topology/1`: nodes, links, and which routes messages take. Schema:
// docs/topology.schema.json; docs/topologies.md explains the keys.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/core/link_graph.hpp"
#include "sim/topologies/catalog.hpp"

namespace debubble {

// Whether --topology names a file: it ends in .json, or holds a slash before any colon.
[[nodiscard]] bool is_topology_file(std::string_view name);

// Strict: unknown keys, wrong types, impossible numbers, unknown or doubled nodes, devices without a route to each
// other are all errors (P001 to P022, B028), each with "name#/json/pointer" and a remedy, all of the file's at once.
[[nodiscard]] DescribedTopology read_topology(std::string_view text, const std::string& name);
// The same from a file. Throws InputError C005 when it cannot be read.
[[nodiscard]] DescribedTopology read_topology_file(const std::string& path);

// The whole graph, link by link. read_topology gives it back, routes included, where `graph` is a preset's or has the
// shortest paths; a changed graph (cut links) has no file.
void write_topology(const LinkGraph& graph, const std::function<void(std::string_view)>& write);

}  // namespace debubble
