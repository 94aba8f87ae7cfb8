#include "studies/simulate/cluster_report.hpp"

#include <algorithm>

namespace debubble {
namespace {

const char* network_word(NetworkModel model) {
  switch (model) {
    case NetworkModel::kFluid:
      return "fluid";
    case NetworkModel::kFifo:
      return "fifo";
    case NetworkModel::kUncontended:
      break;
  }
  return "uncontended";
}

}  // namespace

std::optional<ClusterReport> cluster_report(const Job& job, const std::vector<Nanoseconds>& replica_makespans,
                                            Nanoseconds makespan) {
  const Network* network = job.topology.network();
  Parallelism sizes = network != nullptr ? network->layout.sizes : job.sizes;
  sizes.pipeline = job.schedule.devices;
  if (network == nullptr && sizes.ranks() == job.schedule.devices) return std::nullopt;
  ClusterReport cluster;
  cluster.topology = network != nullptr ? network->graph.name : "ideal";
  cluster.network = network_word(network != nullptr ? network->model : NetworkModel::kUncontended);
  cluster.ranks = sizes.ranks();
  cluster.devices = network != nullptr ? network->graph.device_count() : cluster.ranks;
  cluster.tensor = sizes.tensor;
  cluster.context = sizes.context;
  cluster.expert = sizes.expert;
  cluster.expert_tensor = sizes.expert_tensor;
  cluster.data = sizes.data;
  cluster.fastest_replica = cluster.slowest_replica = makespan;
  if (!replica_makespans.empty()) {
    const auto [fastest, slowest] = std::minmax_element(replica_makespans.begin(), replica_makespans.end());
    cluster.simulated_replicas = static_cast<int>(replica_makespans.size());
    cluster.fastest_replica = *fastest;
    cluster.slowest_replica = *slowest;
  }
  return cluster;
}

}  // namespace debubble
