#include "studies/whatif/changed_costs.hpp"

#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

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

void set_link(ChangedCost& changed, const CostName& name, double factor) {
  constexpr double kNanosecondsPerSecond = 1e9;
  Topology& topology = changed.job.topology;
  if (topology.network() == nullptr) {
    throw std::logic_error("with_cost: links of the ideal topology have exact derivatives");
  }
  auto network = std::make_shared<Network>(*topology.network());
  if (name.link.empty()) {
    const Nanoseconds before = network->message_latency;
    network->message_latency = std::llround(static_cast<double>(before) * factor);
    changed.added = static_cast<double>(network->message_latency - before);
  }
  for (const std::int32_t number : name.links) {  // with the same figures
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
