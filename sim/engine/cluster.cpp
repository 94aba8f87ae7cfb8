#include "sim/engine/cluster.hpp"

namespace debubble {

std::vector<Timeline> simulate_cluster(const Program& program, const Schedule& schedule, const StageCosts& costs,
                                       const Topology& topology, const ClusterOptions&) {
  return {simulate(program, schedule, costs, topology)};
}

}  // namespace debubble
