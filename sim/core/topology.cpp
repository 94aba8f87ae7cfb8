#include "sim/core/topology.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace debubble {

namespace {

// ceil(bytes * 1e9 / bandwidth), or 2^62 where that is more: far beyond what a run may take, so it is refused later.
Nanoseconds serialisation_time(Bytes bytes, std::int64_t bandwidth) {
  __extension__ using Wide = unsigned __int128;
  constexpr Wide kNanosecondsPerSecond = 1'000'000'000;
  const Wide rounded_up = (static_cast<Wide>(bytes) * kNanosecondsPerSecond + static_cast<Wide>(bandwidth) - 1) /
                          static_cast<Wide>(bandwidth);
  return static_cast<Nanoseconds>(std::min(rounded_up, Wide{1} << 62));
}

}  // namespace

Topology Topology::ideal(Nanoseconds latency, std::int64_t bandwidth) {
  Topology topology;
  topology.latency_ = latency;
  topology.bandwidth_ = bandwidth;
  return topology;
}

Topology Topology::over(std::shared_ptr<const Network> network) {
  Topology topology;
  topology.network_ = std::move(network);
  return topology;
}

namespace {

// Links of one rank's way, added to what other ranks of the same device already take.
void add_route(const std::vector<std::int32_t>& route, std::vector<LinkShare>& links) {
  for (const std::int32_t link : route) {
    const auto found =
        std::find_if(links.begin(), links.end(), [&](const LinkShare& share) { return share.link == link; });
    if (found == links.end()) {
      links.push_back({link, 1});
    } else {
      found->weight += 1;
    }
  }
}

}  // namespace

FlowPath Topology::path(int pipeline_replica, int from_device, int to_device) const {
  FlowPath path;
  if (network_ == nullptr || from_device == to_device) return path;
  const LinkGraph& graph = network_->graph;
  const RankLayout& layout = network_->layout;
  std::vector<std::int32_t> route;
  for (int context = 0; context < layout.sizes.context; ++context) {
    for (int tensor = 0; tensor < layout.sizes.tensor; ++tensor) {
      route.clear();
      graph.router->route(layout.device(tensor, context, pipeline_replica, from_device),
                          layout.device(tensor, context, pipeline_replica, to_device), route);
      Nanoseconds latency = network_->message_latency;
      for (const std::int32_t link : route) latency += graph.links[static_cast<std::size_t>(link)].latency;
      path.latency = std::max(path.latency, latency);
      add_route(route, path.links);
    }
  }
  if (network_->model != NetworkModel::kFifo) {
    std::sort(path.links.begin(), path.links.end(),
              [](const LinkShare& a, const LinkShare& b) { return a.link < b.link; });
  }
  path.bound = network_->transfer_bound;
  return path;
}

TransferTime alone(const Flow& flow, const LinkGraph& graph, NetworkModel model) {
  TransferTime time{0, flow.path.latency};
  const auto slower = [&](double weight, std::int64_t bandwidth) {
    if (bandwidth == 0) return Nanoseconds{0};
    if (weight == 1) return serialisation_time(flow.bytes, bandwidth);
    constexpr double kNanosecondsPerSecond = 1e9;
    const double taken =
        std::ceil(static_cast<double>(flow.bytes) * weight * kNanosecondsPerSecond / static_cast<double>(bandwidth));
    return static_cast<Nanoseconds>(std::min(taken, 0x1p62));
  };
  for (const LinkShare& share : flow.path.links) {
    const Nanoseconds taken = slower(share.weight, graph.links[static_cast<std::size_t>(share.link)].bandwidth);
    time.serialisation =
        model == NetworkModel::kFifo ? time.serialisation + taken : std::max(time.serialisation, taken);
  }
  if (model != NetworkModel::kFifo) time.serialisation = std::max(time.serialisation, slower(1, flow.path.bound));
  return time;
}

TransferTime Topology::transfer(int from_device, int to_device, Bytes bytes) const {
  if (from_device == to_device) return {};
  if (network_ != nullptr) {
    return alone(Flow{path(0, from_device, to_device), bytes}, network_->graph, network_->model);
  }
  return {bandwidth_ == 0 ? 0 : serialisation_time(bytes, bandwidth_), latency_};
}

}  // namespace debubble
