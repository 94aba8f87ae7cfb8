// Algorithms in which ranks exchange with many others.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "cost_models/collectives/algorithms.hpp"

namespace debubble::collectives {

namespace {

// Every rank swaps with the one `distance` away in the hypercube: 1 / (2 distance) of the buffer in each direction,
// half with the direct neighbour, then a quarter, and so on, which adds up to (p - 1) / p.
PhaseDraft exchange(Routes& routes, const Groups& groups, std::size_t distance) {
  PhaseDraft phase;
  for (const Ranks& group : groups) {
    for (std::size_t k = 0; k < group.size(); ++k) {
      routes.send(group[k], group[k ^ distance], 1, phase);
      phase.messages.keep_longer(routes.message(group[k], group[k ^ distance]));
    }
  }
  phase.scale = 0.5 / static_cast<double>(distance);
  return phase;
}

}  // namespace

Drafts draft_halving_doubling(Routes& routes, const Groups& groups, CollectiveKind kind) {
  const std::size_t ranks = groups.front().size();
  if (!std::has_single_bit(ranks) || kind == CollectiveKind::kAllToAll || kind == CollectiveKind::kBroadcast) return {};
  Drafts reduce;
  for (std::size_t distance = 1; distance < ranks; distance *= 2) reduce.push_back(exchange(routes, groups, distance));
  Drafts gather(reduce.rbegin(), reduce.rend());  // the same exchanges in reverse: parts grow as they are gathered
  if (kind == CollectiveKind::kReduceScatter) return reduce;
  if (kind == CollectiveKind::kAllGather) return gather;
  reduce.insert(reduce.end(), gather.begin(), gather.end());
  return reduce;
}

Drafts draft_pairwise(Routes& routes, const Groups& groups, CollectiveKind kind) {
  if (kind != CollectiveKind::kAllToAll) return {};
  PhaseDraft phase;
  for (const Ranks& group : groups) {
    for (const std::int32_t from : group) {
      Messages chain;
      for (const std::int32_t to : group) {
        if (from == to) continue;
        routes.send(from, to, 1, phase);
        chain.append(routes.message(from, to));
      }
      phase.messages.keep_longer(chain);
    }
  }
  phase.scale = 1.0 / static_cast<double>(groups.front().size());
  return {std::move(phase)};
}

Drafts draft_sparse(Routes& routes, const Groups& groups, CollectiveKind kind, double density, double entry_size) {
  if (kind != CollectiveKind::kAllReduce) return {};
  const auto levels = static_cast<std::int64_t>(std::bit_width(groups.front().size() - 1));
  Drafts split = draft_pairwise(routes, groups, CollectiveKind::kAllToAll);
  PhaseDraft& reduce = split.front();
  PhaseDraft gather = reduce;
  // P + log2 P messages each, of the (2 P + 2 log2 P) of the paper; the pairwise exchange has P - 1 already.
  for (PhaseDraft* phase : {&reduce, &gather}) {
    const bool far = phase->messages.far > 0;
    (far ? phase->messages.far : phase->messages.near) += levels + 1;
  }
  reduce.scale *= density * entry_size;
  gather.scale *= 2 * density * entry_size;
  return {reduce, gather};
}

}  // namespace debubble::collectives
