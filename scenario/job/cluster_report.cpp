#include "scenario/job/cluster_report.hpp"

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

std::optional<ClusterReport> cluster_report(const Run& run) {
  const Network* network = run.topology.network();
  Parallelism sizes = network != nullptr ? network->layout.sizes : run.sizes;
  sizes.pipeline = run.schedule.devices;
  if (network == nullptr && sizes.ranks() == run.schedule.devices) return std::nullopt;
  ClusterReport cluster;
  cluster.topology = network != nullptr ? network->graph.name : "ideal";
  cluster.network = network_word(network != nullptr ? network->model : NetworkModel::kUncontended);
  cluster.ranks = sizes.ranks();
  cluster.devices = network != nullptr ? network->graph.device_count() : cluster.ranks;
  cluster.tensor = sizes.tensor;
  cluster.context = sizes.context;
  cluster.expert = sizes.expert;
  cluster.data = sizes.data;
  cluster.fastest_replica = cluster.slowest_replica = run.report.makespan;
  if (!run.replica_makespans.empty()) {
    const auto [fastest, slowest] = std::minmax_element(run.replica_makespans.begin(), run.replica_makespans.end());
    cluster.simulated_replicas = static_cast<int>(run.replica_makespans.size());
    cluster.fastest_replica = *fastest;
    cluster.slowest_replica = *slowest;
  }
  return cluster;
}

}  // namespace debubble
