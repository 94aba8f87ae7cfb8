// ClusterLinks: over which links the flows of a ClusterRun go, and the network on which they share them. Internal to
// sim/engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/core/topology.hpp"
#include "sim/engine/cluster_clock.hpp"
#include "sim/engine/flow_network.hpp"
#include "sim/engine/program.hpp"
#include "sim/engine/tables.hpp"

namespace debubble {

class ClusterLinks {
 public:
  // How bytes travel, in one replica.
  struct Route {
    TransferTime alone;
    std::int32_t in_network = -1;  // -1: nothing can slow it down
  };

  // Routes of all channels and copies. `tables` and `clock` must outlive it.
  ClusterLinks(const Program& program, const Tables& tables, const Topology& topology, int replicas,
               ClusterClock& clock);
  // The route of a flow over all its links together. Only where there is a graph, and before `prepare`.
  [[nodiscard]] Route add_flow(const Flow& flow);
  // After the last route, before the first flow.
  void prepare();

  [[nodiscard]] bool has_graph() const { return graph_ != nullptr; }
  // Whether copies are flows to the host, out and back at the same time.
  [[nodiscard]] bool copy_engines() const { return !copy_routes_.empty(); }
  [[nodiscard]] const Route& channel(int replica, std::int32_t channel) const {
    return channels_[static_cast<std::size_t>(replica) * tables_.channels.size() + static_cast<std::size_t>(channel)];
  }
  // Only with copy engines.
  [[nodiscard]] const Route& copy(int replica, std::size_t cell) const {
    return copy_routes_[static_cast<std::size_t>(replica) * tables_.cells.size() + cell];
  }

  // On a route in the network only.
  void begin(const Route& route, Bytes bytes, FlowOwner owner) {
    network_->begin(route.in_network, bytes, route.alone.serialisation, owner, clock_.now);
  }
  // For a kNetwork event: whose flow has left its links, or FlowNetwork::kInFlight.
  [[nodiscard]] FlowOwner fire(const Event& event) { return network_->fire(event.what.index(), clock_.now); }
  // When such a flow is there.
  [[nodiscard]] Nanoseconds arrival(const Route& route) const {
    return clock_.now + network_->latency_after(route.in_network);
  }
  // After all events of an instant: flows that met share their links from now on.
  void settle() {
    if (network_ != nullptr) network_->settle(clock_.now);
  }

 private:
  void add_channels(const Program& program, const Topology& topology, int replicas);
  [[nodiscard]] TransferTime slowest(const std::vector<FlowPath>& paths, Bytes bytes) const;
  void add_copies(const Program& program, const Topology& topology, int replicas);
  [[nodiscard]] Route add_copy(FlowPath path, const CellCost& cost);

  const Tables& tables_;
  ClusterClock& clock_;
  const LinkGraph* graph_ = nullptr;
  NetworkModel model_ = NetworkModel::kUncontended;
  std::unique_ptr<FlowNetwork> network_;  // null: flows never slow each other down
  std::vector<Route> channels_;           // by replica, then channel
  std::vector<Route> copy_routes_;        // by replica, then cell; empty: copies take what their stage says
};

}  // namespace debubble
