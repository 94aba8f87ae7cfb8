// A cluster without some of its links. The others keep their numbers and names, so two runs can be compared link by
// link.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/link_graph.hpp"

namespace debubble {

// Both directions of a connection, as people name it:
//     "3-4"               the links on the route from device 3 to device 4, and back
//     "gpu3-nvswitch0"    all links that join these two nodes
//     "gpu3>nvswitch0"    one direction
// In ascending order. Throws InputError B008 at `place` for names the graph does not have, with the closest one.
[[nodiscard]] std::vector<std::int32_t> links_named(const LinkGraph& graph, std::string_view text,
                                                    const std::string& place);

// The same graph without these links. Messages whose route is whole keep it; the others are rerouted over the fewest
// links. Routing throws InputError B028 where there is none.
[[nodiscard]] LinkGraph without_links(const LinkGraph& graph, const std::vector<std::int32_t>& links);

}  // namespace debubble
