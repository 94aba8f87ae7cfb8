#include "studies/whatif/changed_costs.hpp"

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "studies/whatif/link_changes.hpp"

namespace debubble {

namespace {

using CostKind = CostName::Kind;

Nanoseconds& cost_in(StageCosts& costs, const CostName& name) {
  const auto stage = static_cast<std::size_t>(name.stage);
  switch (name.kind) {
    case CostKind::kOp:
      return duration_of(name.op, costs.stages[stage]);
    case CostKind::kPair:
      return costs.overlapped_pair.value();
    case CostKind::kVocabulary:
      return name.op == OpKind::kVocabularyLogits ? costs.vocabulary.value().logits : costs.vocabulary.value().gradient;
    case CostKind::kBarrier:
      return costs.vocabulary.value().barrier;
    case CostKind::kCopy:
      return costs.stages[stage].copy;
    case CostKind::kLatency:
    case CostKind::kTimePerByte:
      break;
  }
  throw std::logic_error("cost_in: a link's");
}

LinkChange one_link(const std::string& link) {
  LinkChange change;
  change.link = link;
  return change;
}

// A single ideal link is one of a graph with all of them, on which nothing meets, so that it can differ.
void set_link(ChangedCost& changed, const CostName& name, double factor) {
  constexpr double kNanosecondsPerSecond = 1e9;
  Topology& topology = changed.job.topology;
  const bool ideal = topology.network() == nullptr;
  auto network = ideal ? ideal_network(topology, changed.job.schedule.devices, changed.job.pipeline_replicas)
                       : std::make_shared<Network>(*topology.network());
  const std::vector<std::int32_t> links = ideal ? links_of(network->graph, one_link(name.link)) : name.links;
  if (name.link.empty()) {
    const Nanoseconds before = network->message_latency;
    network->message_latency = std::llround(static_cast<double>(before) * factor);
    changed.added = static_cast<double>(network->message_latency - before);
  }
  for (const std::int32_t number : links) {  // with the same figures
    Link& link = network->graph.links.at(static_cast<std::size_t>(number));
    const Link before = link;
    if (name.kind == CostKind::kLatency) {
      link.latency = std::llround(static_cast<double>(before.latency) * factor);
      changed.added = static_cast<double>(link.latency - before.latency);
    } else {
      link.bandwidth = std::llround(static_cast<double>(before.bandwidth) / factor);
      changed.added = kNanosecondsPerSecond / static_cast<double>(link.bandwidth) -
                      kNanosecondsPerSecond / static_cast<double>(before.bandwidth);
    }
  }
  topology = topology.with_network(std::move(network));
}

}  // namespace

ChangedCost with_cost(const LinkFollower& follower, const Job& job, const CostName& name, double factor) {
  ChangedCost changed{job, 0};
  if (name.kind == CostKind::kLatency || name.kind == CostKind::kTimePerByte) {
    set_link(changed, name, factor);
    if (!name.links.empty()) changed.job = follower.followed(std::move(changed.job));
    return changed;
  }
  Nanoseconds& cost = cost_in(changed.job.costs, name);
  const Nanoseconds before = cost;
  cost = std::llround(static_cast<double>(before) * factor);
  changed.added = static_cast<double>(cost - before);
  return changed;
}

}  // namespace debubble
