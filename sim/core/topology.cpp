#include "sim/core/topology.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "sim/core/at.hpp"

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

Nanoseconds truncated_time(double bytes, std::int64_t bandwidth) {
  constexpr double kNanosecondsPerSecond = 1e9;
  return static_cast<Nanoseconds>(
      std::min(std::floor(bytes * kNanosecondsPerSecond / static_cast<double>(bandwidth)), 0x1p62));
}

// A time, and a rate (0: none), of what is calibrated.
Nanoseconds shortened(Nanoseconds time, double scale) {
  return scale == 1 ? time : std::llround(std::min(static_cast<double>(time) / scale, 0x1p62));
}
std::int64_t hastened(std::int64_t rate, double scale) {
  if (scale == 1 || rate == 0) return rate;
  return std::max<std::int64_t>(1, std::llround(std::min(static_cast<double>(rate) * scale, 0x1p62)));
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

Topology Topology::calibrated(double scale) const {
  Topology topology = *this;
  topology.transfer_scale_ = scale;
  return topology;
}

Topology Topology::with_gather(Nanoseconds gather) const {
  Topology topology = *this;
  topology.gather_ = gather;
  return topology;
}

Topology Topology::with_network(std::shared_ptr<const Network> network) const {
  Topology topology = *this;
  topology.network_ = std::move(network);
  return topology;
}

Nanoseconds Topology::transfer_latency() const { return shortened(latency_ + gather_, transfer_scale_); }

std::int64_t Topology::transfer_bandwidth() const { return hastened(bandwidth_, transfer_scale_); }

namespace {

// A link of one rank's route, added to what other ranks of the same device already take.
void add_link_share(LinkShare more, std::vector<LinkShare>& links) {
  const auto found =
      std::find_if(links.begin(), links.end(), [&](const LinkShare& share) { return share.link == more.link; });
  if (found == links.end()) {
    links.push_back(more);
  } else {
    found->weight += more.weight;
  }
}

const MessageRate& rate_between(const Network& network, std::int32_t from, std::int32_t to) {
  const std::vector<std::int32_t>& domain = network.graph.domain;
  return domain.empty() || at(domain, from) == at(domain, to) ? network.inside : network.across;
}

}  // namespace

std::vector<FlowPath> Topology::rank_paths(int pipeline_replica, int from_device, int to_device) const {
  std::vector<FlowPath> paths;
  if (network_ == nullptr || from_device == to_device) return paths;
  const LinkGraph& graph = network_->graph;
  const RankLayout& layout = network_->layout;
  std::vector<std::int32_t> route;
  for (int context = 0; context < layout.sizes.context; ++context) {
    for (int tensor = 0; tensor < layout.sizes.tensor; ++tensor) {
      route.clear();
      const std::int32_t from = layout.device(tensor, context, pipeline_replica, from_device);
      const std::int32_t to = layout.device(tensor, context, pipeline_replica, to_device);
      graph.router->route(from, to, route);
      const MessageRate& rate = rate_between(*network_, from, to);
      FlowPath& path = paths.emplace_back();
      path.latency = network_->message_latency + rate.latency + gather_;
      for (const std::int32_t link : route) path.latency += at(graph.links, link).latency;
      path.latency = shortened(path.latency, transfer_scale_);
      for (const std::int32_t link : route) add_link_share({link, 1 / (transfer_scale_ * rate.share)}, path.links);
      path.bound = hastened(network_->transfer_bound, transfer_scale_);
    }
  }
  return paths;
}

FlowPath Topology::path(int pipeline_replica, int from_device, int to_device) const {
  FlowPath all;
  for (const FlowPath& path : rank_paths(pipeline_replica, from_device, to_device)) {
    for (const LinkShare& share : path.links) add_link_share(share, all.links);
    all.latency = std::max(all.latency, path.latency);
    all.bound = path.bound;
  }
  if (network_ != nullptr && network_->model != NetworkModel::kFifo) {
    std::sort(all.links.begin(), all.links.end(),
              [](const LinkShare& a, const LinkShare& b) { return a.link < b.link; });
  }
  return all;
}

TransferTime alone(const Flow& flow, const LinkGraph& graph, NetworkModel model) {
  TransferTime time{0, flow.path.latency};
  const auto slower = [&](double weight, std::int64_t bandwidth) {
    if (bandwidth == 0) return Nanoseconds{0};
    // Link after link, as ASTRA-sim counts: whole nanoseconds, the rest cut off.
    if (model == NetworkModel::kFifo) return truncated_time(static_cast<double>(flow.bytes) * weight, bandwidth);
    if (weight == 1) return serialisation_time(flow.bytes, bandwidth);
    constexpr double kNanosecondsPerSecond = 1e9;
    const double taken =
        std::ceil(static_cast<double>(flow.bytes) * weight * kNanosecondsPerSecond / static_cast<double>(bandwidth));
    return static_cast<Nanoseconds>(std::min(taken, 0x1p62));
  };
  for (const LinkShare& share : flow.path.links) {
    const Nanoseconds taken = slower(share.weight, at(graph.links, share.link).bandwidth);
    time.serialisation =
        model == NetworkModel::kFifo ? time.serialisation + taken : std::max(time.serialisation, taken);
  }
  if (model != NetworkModel::kFifo) time.serialisation = std::max(time.serialisation, slower(1, flow.path.bound));
  return time;
}

TransferTime Topology::transfer(int from_device, int to_device, Bytes bytes) const {
  if (from_device == to_device) return {};
  if (network_ != nullptr && network_->model == NetworkModel::kFifo) {
    // Each rank's message goes from link to link by itself; the last one counts.
    TransferTime last;
    for (const FlowPath& path : rank_paths(0, from_device, to_device)) {
      const TransferTime time = alone(Flow{path, bytes}, network_->graph, network_->model);
      if (time.total() > last.total()) last = time;
    }
    return last;
  }
  if (network_ != nullptr) {
    return alone(Flow{path(0, from_device, to_device), bytes}, network_->graph, network_->model);
  }
  const std::int64_t bandwidth = transfer_bandwidth();
  return {bandwidth == 0 ? 0 : serialisation_time(bytes, bandwidth), transfer_latency()};
}

TransferTime Topology::to_next_stage(int stage, int devices, Bytes bytes) const {
  if (network_ == nullptr) return transfer(0, 1, bytes);
  return devices < 2 ? TransferTime{} : transfer(stage % devices, (stage + 1) % devices, bytes);
}

}  // namespace debubble
