// Collectives in the switches. The routes from all ranks to one of them are a tree on which sums grow; the routes back
// are the tree on which results spread. Over each link of a tree the data travel once.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "cost_models/collectives/algorithms.hpp"

#include "sim/core/at.hpp"

namespace debubble::collectives {

namespace {

struct Tree {
  std::vector<LinkShare> up;
  std::vector<LinkShare> down;
  std::int64_t depth = 0;  // switches on the longest route
  Messages up_chain;
  Messages down_chain;
};

// Whether all nodes between the ends of a route are switches that reduce, at least one of them.
bool passes_reducers(const LinkGraph& graph, std::span<const std::int32_t> route) {
  for (std::size_t k = 0; k + 1 < route.size(); ++k) {
    const Link& link = at(graph.links, route[k]);
    if (!at(graph.nodes, link.to).reduces) return false;
  }
  return route.size() > 1;
}

void add_once(std::span<const std::int32_t> route, std::vector<LinkShare>& links) {
  for (const std::int32_t link : route) links.push_back({link, 1});
}

// A link on the routes of several ranks carries one partial sum, or one copy: that is what the switches save.
void once(std::vector<LinkShare>& links) {
  merge(links);
  for (LinkShare& share : links) share.weight = 1;
}

// False where a node on a route cannot reduce, or where two ranks have no switch between them.
bool grow(Routes& routes, const Ranks& group, std::int32_t root, Tree& tree) {
  for (const std::int32_t rank : group) {
    if (rank == root) continue;
    if (!passes_reducers(routes.graph(), routes.route(rank, root))) return false;
    if (!passes_reducers(routes.graph(), routes.route(root, rank))) return false;
    add_once(routes.route(rank, root), tree.up);
    add_once(routes.route(root, rank), tree.down);
    tree.up_chain.keep_longer(routes.message(rank, root));
    tree.down_chain.keep_longer(routes.message(root, rank));
  }
  once(tree.up);
  once(tree.down);
  return true;
}

void use(const std::vector<LinkShare>& tree, PhaseDraft& phase) {
  phase.links.insert(phase.links.end(), tree.begin(), tree.end());
}

}  // namespace

Drafts draft_in_network(Routes& routes, const Groups& groups, CollectiveKind kind) {
  if (kind == CollectiveKind::kAllToAll) return {};
  const bool one_root = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kBroadcast;
  PhaseDraft phase;
  for (const Ranks& group : groups) {
    Messages chain;
    // Gathered and scattered parts have a root each.
    for (const std::int32_t root : one_root ? Ranks{group.front()} : group) {
      Tree tree;
      if (!grow(routes, group, root, tree)) return {};
      const bool up = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
      if (up) use(tree.up, phase);
      if (kind != CollectiveKind::kReduceScatter) use(tree.down, phase);
      Messages route;
      if (up) route.append(tree.up_chain);
      if (kind != CollectiveKind::kReduceScatter) route.append(tree.down_chain);
      chain.keep_longer(route);
    }
    phase.messages.keep_longer(chain);
  }
  if (!one_root) phase.scale = 1.0 / static_cast<double>(groups.front().size());
  return {std::move(phase)};
}

}  // namespace debubble::collectives
