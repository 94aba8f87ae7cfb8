#include <algorithm>
#include <cstddef>
#include <utility>

#include "cost_models/collectives/algorithms.hpp"

namespace debubble::collectives {

namespace {

// A domain's ranks from one to another, in the order of their numbers, up or down.
void add_path(const Ranks& ranks, std::size_t from, std::size_t to, bool up, Ranks& order) {
  const std::size_t size = ranks.size();
  for (std::size_t k = 0; k < size; ++k) {
    const std::size_t place = (from + (up ? k : size - k)) % size;
    if (place != to || size == 1) order.push_back(ranks[place]);
  }
  if (size > 1) order.push_back(ranks[to]);
}

// Ring `first` of a group: it enters a domain by the rank that faces the one by which it left the last: same rail, same
// leaf switch. With an odd number of domains the last two need a third rail to come back by the first.
//
//     2 domains of 4, first = 1      1 2 3 0 | 0 3 2 1 | back to 1
//     3 domains of 4, first = 1      1 2 3 0 | 0 2 1 3 | 3 2 0 1 | back to 1
Ranks ring_order(const std::vector<Ranks>& domains, std::size_t first) {
  Ranks order;
  const std::size_t count = domains.size();
  for (std::size_t d = 0; d < count; ++d) {
    const std::size_t ranks = domains[d].size();
    const auto rail = [&](std::size_t back) { return (first + ranks - back % ranks) % ranks; };
    const bool third = count % 2 == 1 && count > 1 && ranks > 2;
    if (third && d + 2 == count) {
      add_path(domains[d], rail(1), rail(2), false, order);
    } else if (third && d + 1 == count) {
      add_path(domains[d], rail(2), rail(0), false, order);
    } else {
      add_path(domains[d], rail(d % 2), rail(1 - d % 2), d % 2 == 0, order);
    }
  }
  return order;
}

std::vector<Ranks> ring_orders(const Routes& routes, const Ranks& group) {
  const std::vector<Ranks> domains = by_domain(routes, group);
  if (domains.size() == 1) return {group};
  std::size_t rings = 1;
  for (const Ranks& ranks : domains) rings = std::max(rings, ranks.size());
  std::vector<Ranks> orders;
  for (std::size_t first = 0; first < rings; ++first) orders.push_back(ring_order(domains, first));
  return orders;
}

// The dearest hop does not count: the chain of p - 1 messages leaves one out, and so NCCL counts.
Messages ring_messages(Routes& routes, const Ranks& order) {
  Messages all;
  Messages dearest;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Messages hop = routes.message(order[k], order[(k + 1) % order.size()]);
    all.append(hop);
    dearest.keep_longer(hop);
  }
  all.append(dearest, -1);
  return all;
}

// A pipelined chain from the root through all others: the whole buffer crosses every edge but the one back to the root.
void add_chain(Routes& routes, Ranks order, std::int32_t root, PhaseDraft& phase) {
  std::rotate(order.begin(), std::find(order.begin(), order.end(), root), order.end());
  Messages chain;
  for (std::size_t k = 0; k + 1 < order.size(); ++k) {
    routes.send(order[k], order[k + 1], 1, phase);
    chain.append(routes.message(order[k], order[k + 1]));
  }
  phase.messages.keep_longer(chain);
}

}  // namespace

void add_ring(Routes& routes, const Ranks& order, double count, std::int64_t rounds, PhaseDraft& phase) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    routes.send(order[k], order[(k + 1) % order.size()], count, phase);
  }
  Messages chain;
  chain.append(ring_messages(routes, order), rounds);
  phase.messages.keep_longer(chain);
}

// In a round each rank passes p - 1 parts of 1/p of the buffer on to the next one (Thakur et al.): a reduce-scatter or
// an all-gather is one round, an all-reduce is both. All edges work all the time, so the bytes of an edge and the chain
// of messages are independent: time is the one plus the other.
Drafts draft_ring(Routes& routes, const Groups& groups, CollectiveKind kind) {
  if (kind == CollectiveKind::kAllToAll) return {};
  const auto p = static_cast<double>(groups.front().size());
  const std::int64_t rounds = kind == CollectiveKind::kAllReduce ? 2 : 1;
  PhaseDraft phase;
  for (const Ranks& group : groups) {
    const std::vector<Ranks> orders = ring_orders(routes, group);
    // Of a share of 1 / rings each. Groups may differ in their number of rings, so the count is per group.
    const double count = 1.0 / static_cast<double>(orders.size());
    PhaseDraft rings;
    for (const Ranks& order : orders) {
      if (kind == CollectiveKind::kBroadcast) {
        add_chain(routes, order, group.front(), rings);
      } else {
        add_ring(routes, order, p - 1, rounds, rings);
      }
    }
    merge(rings.links);
    for (const LinkShare& share : rings.links) phase.links.push_back({share.link, share.weight * count});
    phase.messages.keep_longer(rings.messages);
  }
  phase.scale = kind == CollectiveKind::kBroadcast ? 1.0 : static_cast<double>(rounds) / p;
  return {std::move(phase)};
}

}  // namespace debubble::collectives
