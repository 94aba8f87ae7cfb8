// Networks of switches, one file each.
#pragma once

#include "sim/topologies/catalog.hpp"

namespace debubble {

[[nodiscard]] TopologyEntry fat_tree_topology();
[[nodiscard]] TopologyEntry dragonfly_topology();

}  // namespace debubble
