// Routes that suit one kind of topology better than the fewest links. Each is deterministic and takes constant time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/core/link_graph.hpp"

namespace debubble {

// A ring of devices 0, 1, ...: the shorter direction, clockwise (upwards) where both are as long. Device k's link to
// the next is link 2k, the one back from there 2k + 1.
[[nodiscard]] std::shared_ptr<const Router> ring_router(std::int32_t devices);

// Every device has a link of its own to every other: device a's to b is link a (n - 1) + (b < a ? b : b - 1).
[[nodiscard]] std::shared_ptr<const Router> fully_connected_router(std::int32_t devices);

// A tree of switches, hosts and network cards with devices as leaves: up to the first common node, and down.
struct TreePlace {
  std::int32_t parent = -1;  // node; -1: the root
  std::int32_t up = -1;      // link to the parent
  std::int32_t down = -1;    // link from there
  bool host = false;
};
// `places` is by node, `devices` the graph's.
[[nodiscard]] std::shared_ptr<const Router> tree_router(std::vector<TreePlace> places,
                                                        std::vector<std::int32_t> devices);

}  // namespace debubble
