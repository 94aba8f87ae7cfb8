#include "studies/simulate/distinct_replicas.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

using Pairs = std::set<std::pair<std::int32_t, std::int32_t>>;

// What decides how long a route takes, whichever links it is made of.
struct WayLike {
  Nanoseconds latency = 0;
  std::vector<std::pair<std::int64_t, double>> links;  // bandwidth, weight

  friend bool operator==(const WayLike&, const WayLike&) = default;
};

// The links of one replica after the other, and whether two replicas have one in common.
class ReplicaLinks {
 public:
  explicit ReplicaLinks(const LinkGraph& graph) : graph_(graph), owner_(graph.links.size(), -1) {}

  [[nodiscard]] WayLike add(int replica, const FlowPath& path) {
    WayLike way{path.latency, {}};
    for (const LinkShare& share : path.links) {
      const Link& link = at(graph_.links, share.link);
      way.links.emplace_back(link.bandwidth, share.weight);
      take(replica, share.link);
    }
    std::sort(way.links.begin(), way.links.end());
    return way;
  }
  void take(int replica, std::int32_t number) {
    const Link& link = at(graph_.links, number);
    if (link.bandwidth == 0 || !link.shared) return;
    int& owner = at(owner_, number);
    meet_ = meet_ || (owner >= 0 && owner != replica);
    owner = replica;
  }
  [[nodiscard]] bool meet() const { return meet_; }

 private:
  const LinkGraph& graph_;
  std::vector<int> owner_;
  bool meet_ = false;
};

void take_host_links(const Network& network, int replica, int devices, ReplicaLinks& links) {
  const RankLayout& layout = network.layout;
  std::vector<std::int32_t> route;
  for (int device = 0; device < devices; ++device) {
    for (int context = 0; context < layout.sizes.context; ++context) {
      for (int tensor = 0; tensor < layout.sizes.tensor; ++tensor) {
        const std::int32_t rank = layout.device(tensor, context, replica, device);
        for (const bool to_host : {true, false}) network.graph.router->host_route(rank, to_host, route);
      }
    }
  }
  for (const std::int32_t link : route) links.take(replica, link);
}

std::vector<WayLike> ways_of(const Job& job, const Program& program, const Pairs& pairs, int replica,
                             ReplicaLinks& links) {
  std::vector<WayLike> ways;
  for (const auto& [from, to] : pairs) ways.push_back(links.add(replica, job.topology.path(replica, from, to)));
  for (const StepTask& task : job.step.tasks) {
    if (task.across_replicas || task.phases.size() < 2) continue;
    for (const Flow& flow : at(task.phases, replica)) {
      ways.push_back(links.add(replica, flow.path));
    }
  }
  if (!program.copies.empty()) take_host_links(*job.topology.network(), replica, program.devices, links);
  return ways;
}

// Each op of each replica takes some 200 bytes and a microsecond.
int affordable(const Program& program, int replicas) {
  constexpr std::int64_t kMost = 20'000'000;
  const auto ops = static_cast<std::int64_t>(program.nodes.size());
  if (ops * replicas <= kMost) return replicas;
  throw InputError(Diagnostic{"X005", "--dp",
                              std::to_string(replicas) + " replicas of the pipeline are not alike, and with " +
                                  std::to_string(ops) + " ops each more than 20 million ops have to be simulated",
                              "use fewer replicas, or leave --jitter and --slow replica out: replicas that are alike "
                              "and share no link are simulated once"});
}

}  // namespace

int distinct_replicas(const Job& job, const Program& program, const Variation& variation) {
  const int all = job.pipeline_replicas;
  if (all == 1) return 1;
  if (variation.replicas_differ()) return affordable(program, all);
  if (job.topology.network() == nullptr) return 1;
  Pairs pairs;
  for (const auto& channel : program.channels) {
    if (channel.from_device != channel.to_device) pairs.emplace(channel.from_device, channel.to_device);
  }
  ReplicaLinks links(job.topology.network()->graph);
  const std::vector<WayLike> first = ways_of(job, program, pairs, 0, links);
  for (int replica = 1; replica < all; ++replica) {
    if (ways_of(job, program, pairs, replica, links) != first) return affordable(program, all);
    if (links.meet() && job.topology.contended()) return affordable(program, all);
  }
  return 1;
}

}  // namespace debubble
