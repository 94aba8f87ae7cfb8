// Algorithms that see a group as rows and columns.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "cost_models/collectives/algorithms.hpp"

namespace debubble::collectives {

namespace {

using Grid = std::vector<Ranks>;  // rows

Grid transposed(const Grid& grid) {
  Grid columns(grid.front().size());
  for (const Ranks& row : grid) {
    for (std::size_t k = 0; k < row.size(); ++k) columns[k].push_back(row[k]);
  }
  return columns;
}

// Rings in every row: `share` of the buffer, gathered or reduced over `rounds` rounds.
void add_rings(Routes& routes, const Grid& rows, double share, std::int64_t rounds, PhaseDraft& phase) {
  const auto p = static_cast<double>(rows.front().size());
  for (const Ranks& row : rows) add_ring(routes, row, share * static_cast<double>(rounds) * (p - 1) / p, rounds, phase);
}

// Every rank of a row to every other one of it: 1/p of `share` each.
void add_exchange(Routes& routes, const Grid& rows, double share, PhaseDraft& phase) {
  for (const Ranks& row : rows) {
    for (const std::int32_t from : row) {
      Messages chain;
      for (const std::int32_t to : row) {
        if (from == to) continue;
        routes.send(from, to, share / static_cast<double>(row.size()), phase);
        chain.append(routes.message(from, to));
      }
      phase.messages.keep_longer(chain);
    }
  }
}

// The part of a hierarchical collective that stays in the fast domains: the whole buffer, once.
void add_inside(Routes& routes, const Grid& domains, CollectiveKind kind, PhaseDraft& phase) {
  if (kind == CollectiveKind::kAllToAll) {
    add_exchange(routes, domains, 1, phase);
  } else {
    add_rings(routes, domains, 1, 1, phase);
  }
}

// The part between domains, among the ranks of the same place in each: after the part inside, each of them has only its
// share of the buffer left to reduce or to gather, which is why a slow network carries so little. An all-to-all has
// nothing to reduce: all of it crosses.
void add_across(Routes& routes, const Grid& domains, CollectiveKind kind, PhaseDraft& phase) {
  const double share = 1.0 / static_cast<double>(domains.front().size());
  if (kind == CollectiveKind::kAllToAll) {
    add_exchange(routes, transposed(domains), 1, phase);
  } else {
    add_rings(routes, transposed(domains), share, kind == CollectiveKind::kAllReduce ? 2 : 1, phase);
  }
}

// In both directions, so that all four links of a rank work: a quarter of the buffer in each direction.
void add_both_directions(Routes& routes, Grid rows, PhaseDraft& phase) {
  constexpr double kQuarter = 0.25;
  add_rings(routes, rows, kQuarter, 2, phase);
  for (Ranks& row : rows) std::reverse(row.begin(), row.end());
  add_rings(routes, rows, kQuarter, 2, phase);
}

// Rows of the grid, or nothing where there is none.
Grid grid_of(const Routes& routes, const Ranks& group) {
  std::vector<Ranks> domains = by_domain(routes, group);
  if (domains.size() > 1 && domains.front().size() > 1 && even(domains)) return domains;
  std::size_t rows = 0;
  for (std::size_t k = 2; k * k <= group.size(); ++k) {
    if (group.size() % k == 0) rows = k;
  }
  if (rows == 0) return {};
  const std::size_t columns = group.size() / rows;
  Grid grid(rows);
  for (std::size_t k = 0; k < group.size(); ++k) grid[k / columns].push_back(group[k]);
  return grid;
}

}  // namespace

Drafts draft_hierarchical(Routes& routes, const Groups& groups, CollectiveKind kind) {
  if (kind == CollectiveKind::kBroadcast) return {};
  PhaseDraft inside;
  PhaseDraft across;
  for (const Ranks& group : groups) {
    const std::vector<Ranks> domains = by_domain(routes, group);
    if (domains.size() < 2 || domains.front().size() < 2 || !even(domains)) return {};
    add_inside(routes, domains, kind, inside);
    add_across(routes, domains, kind, across);
  }
  // Reduce-scatter inside, all-reduce across, all-gather inside.
  if (kind == CollectiveKind::kAllReduce) return {inside, across, inside};
  if (kind == CollectiveKind::kAllGather) return {across, inside};
  return {inside, across};
}

Drafts draft_torus(Routes& routes, const Groups& groups, CollectiveKind kind) {
  if (kind != CollectiveKind::kAllReduce) return {};
  PhaseDraft phase;
  for (const Ranks& group : groups) {
    const Grid rows = grid_of(routes, group);
    if (rows.empty()) return {};
    add_both_directions(routes, rows, phase);
    add_both_directions(routes, transposed(rows), phase);
  }
  return {phase, phase};  // rows and columns change places between the halves
}

}  // namespace debubble::collectives
