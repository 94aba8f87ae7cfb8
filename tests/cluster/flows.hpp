// simulate_flows: when flows end that begin at given times and have a network to themselves. For tests of a topology or
// of a plan; the engine (sim/engine/cluster.hpp) runs the same network between the ops of a schedule.
#pragma once

#include <vector>

#include "sim/core/flow.hpp"
#include "sim/core/link_graph.hpp"

namespace debubble {

struct TimedFlow {
  Flow flow;
  Nanoseconds begin = 0;
  bool together = true;  // over all links at once; FIFO networks also know messages that go from link to link
};

// By flow: when it has arrived, its latency included.
[[nodiscard]] std::vector<Nanoseconds> simulate_flows(const LinkGraph& graph, NetworkModel model,
                                                      const std::vector<TimedFlow>& flows);

}  // namespace debubble
