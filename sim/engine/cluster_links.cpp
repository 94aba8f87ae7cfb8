#include "sim/engine/cluster_links.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

// From a device's ranks to their hosts' memory, or back; no links where one of them has no host.
FlowPath host_path(const Network& network, int replica, std::int32_t device, bool to_host) {
  FlowPath path;
  std::map<std::int32_t, double> weights;
  std::vector<std::int32_t> route;
  const RankLayout& layout = network.layout;
  for (int context = 0; context < layout.sizes.context; ++context) {
    for (int tensor = 0; tensor < layout.sizes.tensor; ++tensor) {
      route.clear();
      const std::int32_t rank = layout.device(tensor, context, replica, device);
      if (!network.graph.router->host_route(rank, to_host, route)) return {};
      Nanoseconds latency = 0;
      for (const std::int32_t link : route) {
        weights[link] += 1;
        latency += at(network.graph.links, link).latency;
      }
      path.latency = std::max(path.latency, latency);
    }
  }
  for (const auto& [link, weight] : weights) path.links.push_back({link, weight});
  return path;
}

}  // namespace

ClusterLinks::ClusterLinks(const Program& program, const Tables& tables, const Topology& topology, int replicas,
                           ClusterClock& clock)
    : tables_(tables), clock_(clock) {
  if (topology.network() != nullptr) {
    graph_ = &topology.network()->graph;
    model_ = topology.network()->model;
    network_ = make_network(*graph_, model_, clock_.queue);
  }
  add_channels(program, topology, replicas);
  add_copies(program, topology, replicas);
}

void ClusterLinks::prepare() {
  if (network_ != nullptr) network_->prepare();
}

ClusterLinks::Route ClusterLinks::add_flow(const Flow& flow) {
  // Bytes that stream over all links at once take what the fluid model says, also where messages are FIFO.
  Route made{alone(flow, *graph_, NetworkModel::kFluid), -1};
  if (network_ != nullptr && made.alone.serialisation > 0) {
    made.in_network = network_->add_route({flow.path}, FlowNetwork::Form::kTogether);
  }
  return made;
}

// Channels between the same two devices are one route of the network: the fewer routes, the fewer classes of links.
void ClusterLinks::add_channels(const Program& program, const Topology& topology, int replicas) {
  struct Known {
    std::vector<FlowPath> paths;
    std::int32_t number = -1;
  };
  const bool in_turn = model_ == NetworkModel::kFifo;
  channels_.reserve(static_cast<std::size_t>(replicas) * program.channels.size());
  for (int replica = 0; replica < replicas; ++replica) {
    std::map<std::pair<std::int32_t, std::int32_t>, Known> known;
    for (std::size_t c = 0; c < program.channels.size(); ++c) {
      const auto& [from, to, stage, piece_class] = program.channels[c];
      if (graph_ == nullptr || from == to) {
        channels_.push_back({tables_.channels[c], -1});
        continue;
      }
      Known& route = known[{from, to}];
      // FIFO links serve messages, of which each rank sends its own; fluid links serve their sum as one flow.
      if (route.paths.empty() && in_turn) route.paths = topology.rank_paths(replica, from, to);
      if (route.paths.empty()) route.paths = {topology.path(replica, from, to)};
      Route made{slowest(route.paths, tables_.channel_bytes[c]), -1};
      if (network_ != nullptr && made.alone.serialisation > 0) {
        if (route.number < 0) route.number = network_->add_route(route.paths, FlowNetwork::Form::kLinkAfterLink);
        made.in_network = route.number;
      }
      channels_.push_back(made);
    }
  }
}

// How long messages over these paths take, each alone.
TransferTime ClusterLinks::slowest(const std::vector<FlowPath>& paths, Bytes bytes) const {
  const NetworkModel model = model_ == NetworkModel::kFifo ? model_ : NetworkModel::kFluid;
  TransferTime last;
  for (const FlowPath& path : paths) {
    const TransferTime time = alone({path, bytes}, *graph_, model);
    if (time.total() > last.total()) last = time;
  }
  return last;
}

// All copies are flows, or none is: a lane on which only some share links would be neither model.
void ClusterLinks::add_copies(const Program& program, const Topology& topology, int replicas) {
  if (program.copies.empty() || !topology.contended()) return;
  const auto to_host = [](const Program::CopyNode& copy) { return copy.peer < 0; };
  if (!std::all_of(program.copies.begin(), program.copies.end(), to_host)) return;
  copy_routes_.resize(static_cast<std::size_t>(replicas) * program.cells.size());
  for (int replica = 0; replica < replicas; ++replica) {
    for (std::size_t c = 0; c < program.cells.size(); ++c) {
      const Program::Cell& cell = program.cells[c];
      if (!cell.is_copy) continue;
      const bool leaves = cell.way == Copy::Way::kOut;
      const FlowPath path = host_path(*topology.network(), replica, cell.device - program.devices, leaves);
      if (path.links.empty()) {
        copy_routes_.clear();
        return;
      }
      copy_routes_[static_cast<std::size_t>(replica) * program.cells.size() + c] = add_copy(path, tables_.cells[c]);
    }
  }
}

// A copy never takes less than its stage says: the device's own copy engine is no faster, however fast the links are.
ClusterLinks::Route ClusterLinks::add_copy(FlowPath path, const CellCost& cost) {
  constexpr double kNanosecondsPerSecond = 1e9;
  const Nanoseconds over_links = alone({path, cost.moved}, *graph_, NetworkModel::kFluid).serialisation;
  if (cost.duration > over_links) {
    const double rate = static_cast<double>(cost.moved) * kNanosecondsPerSecond / static_cast<double>(cost.duration);
    path.bound = std::max<std::int64_t>(static_cast<std::int64_t>(rate), 1);
  }
  Route made = add_flow({path, cost.moved});
  // The bound is whole bytes per second and so a little off; what the stage says counts.
  made.alone.serialisation = std::max(over_links, cost.duration);
  return made;
}

}  // namespace debubble
