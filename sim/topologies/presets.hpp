// One function per family of presets; the catalog (catalog.hpp) joins them.
#pragma once

#include "sim/topologies/catalog.hpp"

namespace debubble {

[[nodiscard]] std::vector<TopologyEntry> basic_topologies();        // ring, fully-connected, switch
[[nodiscard]] std::vector<TopologyEntry> nvswitch_topologies();     // dgx-*, gb200-nvl72
[[nodiscard]] std::vector<TopologyEntry> pcie_topologies();         // pcie, v100-mesh
[[nodiscard]] std::vector<TopologyEntry> switched_topologies();     // fat-tree, dragonfly
[[nodiscard]] std::vector<TopologyEntry> hammingmesh_topologies();  // hxmesh

}  // namespace debubble
