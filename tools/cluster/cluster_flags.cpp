#include "tools/cluster/cluster_flags.hpp"

namespace debubble {

void add_cluster_flags(CLI::App&, ClusterFlags&) {}

ClusterScenario check_cluster(const ClusterFlags&) { return {}; }

std::string repeated_cluster_flags(const ClusterFlags&) { return {}; }

}  // namespace debubble
