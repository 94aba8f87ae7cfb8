// Topology: how long a transfer between two devices of the pipeline takes, and over which links it travels.
//
// Ideal: every pair of devices has its own link, any number of transfers at once. Over a network: the devices are GPUs
// of a LinkGraph, placed by a RankLayout; flows that meet on a link share it (sim/engine/cluster.hpp).
//
// A calibrated topology divides all times of transfers by a factor. Its links stay what they are: collectives over them
// are calibrated where they are planned.
#pragma once

#include <memory>
#include <vector>

#include "sim/core/flow.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/core/rank_layout.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// The two parts of a transfer's duration. The bytes leave first, then the last one travels.
struct TransferTime {
  Nanoseconds serialisation = 0;  // bytes / bandwidth, rounded up
  Nanoseconds latency = 0;

  [[nodiscard]] Nanoseconds total() const { return serialisation + latency; }
};

// What messages of the size that a job sends reach, where that was measured.
struct MessageRate {
  Nanoseconds latency = 0;  // in addition to the links'
  double share = 1;         // of the links' bandwidth
};

// A cluster with a job mapped onto it.
struct Network {
  LinkGraph graph;
  RankLayout layout;
  NetworkModel model = NetworkModel::kFluid;
  Nanoseconds message_latency = 0;  // of every transfer, in addition to its links': launch and protocol
  std::int64_t transfer_bound = 0;  // bytes per second that one rank's transfer never exceeds; 0: none
  MessageRate inside;               // transfers within a domain of the graph
  MessageRate across;               // transfers between domains
};

class Topology {
 public:
  // Every pair of different devices is joined by its own link. `bandwidth` is in bytes per second; 0 means unlimited.
  static Topology ideal(Nanoseconds latency, std::int64_t bandwidth);
  static Topology over(std::shared_ptr<const Network> network);

  // The same with all transfers taking 1 / scale of their time: latencies, and what they put on links. Above 0.
  [[nodiscard]] Topology calibrated(double scale) const;
  [[nodiscard]] double transfer_scale() const { return transfer_scale_; }
  // The same where tensor ranks send shares, which the receivers put together: they wait so long for that after every
  // transfer, as for its latency.
  [[nodiscard]] Topology with_gather(Nanoseconds gather) const;
  [[nodiscard]] Nanoseconds gather() const { return gather_; }
  // The same over another network.
  [[nodiscard]] Topology with_network(std::shared_ptr<const Network> network) const;

  // Time for `bytes` from one device of the pipeline to another, alone in the network; nothing between stages on one
  // device. Over a network each of the device's tensor and context ranks sends so many bytes to its counterpart.
  [[nodiscard]] TransferTime transfer(int from_device, int to_device, Bytes bytes) const;
  // The same from the device of `stage` to that of the next, where stages go round `devices` in order: for planners,
  // which know no placement yet. On ideal links all are alike.
  [[nodiscard]] TransferTime to_next_stage(int stage, int devices, Bytes bytes) const;
  // Over a network: the routes of the messages that make up such a transfer in a data-parallel replica of the pipeline,
  // one for each tensor and context rank.
  [[nodiscard]] std::vector<FlowPath> rank_paths(int pipeline_replica, int from_device, int to_device) const;
  // The same as one flow, of so many bytes per rank.
  [[nodiscard]] FlowPath path(int pipeline_replica, int from_device, int to_device) const;

  [[nodiscard]] const Network* network() const { return network_.get(); }
  // Whether flows may slow each other down.
  [[nodiscard]] bool contended() const { return network_ != nullptr && network_->model != NetworkModel::kUncontended; }
  // Of ideal links as given; transfer_latency and transfer_bandwidth are what a transfer gets, calibration included.
  [[nodiscard]] Nanoseconds latency() const { return latency_; }
  [[nodiscard]] std::int64_t bandwidth() const { return bandwidth_; }
  [[nodiscard]] Nanoseconds transfer_latency() const;
  [[nodiscard]] std::int64_t transfer_bandwidth() const;

 private:
  Nanoseconds latency_ = 0;
  std::int64_t bandwidth_ = 0;
  double transfer_scale_ = 1;
  Nanoseconds gather_ = 0;
  std::shared_ptr<const Network> network_;
};

// How long a flow takes alone: fluid and uncontended, the slowest of its links by weight; FIFO, link after link.
[[nodiscard]] TransferTime alone(const Flow& flow, const LinkGraph& graph, NetworkModel model);

}  // namespace debubble
