#include <algorithm>
#include <cstddef>
#include <utility>

#include "cost_models/collectives/algorithms.hpp"

#include "sim/core/at.hpp"

namespace debubble::collectives {

namespace {

// Parent of `rank` in the tree in which every odd rank is a leaf; -1: it is the root, rank 0.
std::int32_t parent_in_first(std::int32_t rank, std::int32_t ranks) {
  if (rank == 0) return -1;
  // The lowest set bit is the rank's level. Its parent has that bit cleared and the next one set; in the last subtree,
  // which may be incomplete, there is no such rank, and the bit is only cleared.
  const std::int32_t bit = rank & -rank;
  const std::int32_t up = (rank ^ bit) | (bit << 1);
  return up < ranks ? up : rank ^ bit;
}

// The second tree is the first one mirrored, or with an odd number of ranks shifted by one, so that leaves and inner
// nodes change places.
std::int32_t parent(int tree, std::int32_t rank, std::int32_t ranks) {
  if (tree == 0) return parent_in_first(rank, ranks);
  if (ranks % 2 == 0) {
    const std::int32_t up = parent_in_first(ranks - 1 - rank, ranks);
    return up < 0 ? -1 : ranks - 1 - up;
  }
  const std::int32_t up = parent_in_first((rank + ranks - 1) % ranks, ranks);
  return up < 0 ? -1 : (up + 1) % ranks;
}

// Of a binary tree of so many ranks: the logarithm, rounded up.
std::int64_t levels(std::size_t ranks) {
  std::int64_t levels = 0;
  while ((std::size_t{1} << static_cast<unsigned>(levels)) < ranks) ++levels;
  return levels;
}

// The chain of a domain for the channel that leaves it by rank `channel`. The root of a broadcast comes first.
Ranks channel_chain(const Ranks& ranks, std::size_t channel, bool root_first) {
  const std::size_t head = channel % ranks.size();
  Ranks chain;
  if (root_first) chain.push_back(ranks.front());
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    const std::int32_t rank = ranks[(head + k) % ranks.size()];
    if (!root_first || rank != ranks.front()) chain.push_back(rank);
  }
  return chain;
}

struct Channel {
  std::vector<Ranks> chains;  // by domain
  Ranks heads;                // by domain: by which rank the channel leaves
};

Channel channel_of(const std::vector<Ranks>& domains, std::size_t number, bool broadcast) {
  Channel channel;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    channel.chains.push_back(channel_chain(domains[d], number, broadcast && d == 0));
    channel.heads.push_back(domains[d][number % domains[d].size()]);
  }
  return channel;
}

// Two halves of the channel's data take two trees between the heads. `up` for sums that go to the root.
void add_trees(Routes& routes, const Ranks& heads, bool up, double copies, PhaseDraft& phase, Messages& dearest) {
  const auto ranks = static_cast<std::int32_t>(heads.size());
  const auto at = [&](std::int32_t k) { return heads[to_index(k)]; };
  for (int tree = 0; tree < 2; ++tree) {
    for (std::int32_t k = 0; k < ranks; ++k) {
      const std::int32_t over = parent(tree, k, ranks);
      // A broadcast's root has the data already and hands them to a root that has not.
      const std::int32_t from = !up && k == 0 ? -1 : (over < 0 && !up ? 0 : over);
      if (from < 0) continue;
      routes.send(at(from), at(k), copies, phase);
      if (up) routes.send(at(k), at(from), copies, phase);
      dearest.keep_longer(routes.message(at(k), at(from)));
    }
  }
}

void add_channel(Routes& routes, const Channel& channel, bool up, double far_copies, PhaseDraft& phase) {
  const std::int64_t directions = up ? 2 : 1;
  Messages longest;
  for (const Ranks& chain : channel.chains) {
    Messages messages;
    for (std::size_t k = 0; k + 1 < chain.size(); ++k) {
      routes.send(chain[k], chain[k + 1], 2, phase);
      if (up) routes.send(chain[k + 1], chain[k], 2, phase);
      messages.append(routes.message(chain[k], chain[k + 1]), directions);
    }
    longest.keep_longer(messages);
  }
  // The critical path: the longest chain of a domain, then the tree level by level. Each level counts as the slowest
  // hop between heads, whichever it crosses. Sums go up and results come down; a broadcast only goes down.
  Messages dearest;
  add_trees(routes, channel.heads, up, far_copies, phase, dearest);
  longest.append(dearest, directions * levels(channel.heads.size()));
  phase.messages.keep_longer(longest);
}

}  // namespace

Drafts draft_tree(Routes& routes, const Groups& groups, CollectiveKind kind, double far_copies) {
  const bool up = kind == CollectiveKind::kAllReduce;
  if (!up && kind != CollectiveKind::kBroadcast) return {};
  PhaseDraft phase;
  for (const Ranks& group : groups) {
    const std::vector<Ranks> domains = by_domain(routes, group);
    std::size_t channels = 1;
    if (domains.size() > 1) {
      for (const Ranks& ranks : domains) channels = std::max(channels, ranks.size());
    }
    PhaseDraft tree;
    for (std::size_t k = 0; k < channels; ++k) add_channel(routes, channel_of(domains, k, !up), up, far_copies, tree);
    merge(tree.links);
    const double share = 1.0 / static_cast<double>(channels);
    for (const LinkShare& link : tree.links) phase.links.push_back({link.link, link.weight * share});
    phase.messages.keep_longer(tree.messages);
  }
  phase.scale = 0.5;  // a tree carries half of the data; chains were counted twice
  return {std::move(phase)};
}

}  // namespace debubble::collectives
