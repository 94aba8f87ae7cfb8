// The algorithms, each as phases over the links. All groups hold the same number of ranks, at least 2, and run side by
// side; broadcasts start at the first rank of each. What an algorithm cannot do ends in nothing.
//
// Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH" (IJHPCA 2005);
// Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan" (Parallel Computing
// 2009); the others are named at their functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cost_models/collectives/collective.hpp"
#include "cost_models/collectives/routes.hpp"

namespace debubble::collectives {

using Drafts = std::vector<PhaseDraft>;  // one after the other; empty: it does not fit
using Groups = std::vector<Ranks>;

// Every rank to the next one, around. Over several domains as many rings as a domain has ranks, each leaving it by
// another of them, so that all network cards work (NCCL's channels).
[[nodiscard]] Drafts draft_ring(Routes& routes, const Groups& groups, CollectiveKind kind);

// Chains within domains, two binary trees between them: a rank is an inner node of one and a leaf of the other.
// All-reduce and broadcast only. `far_copies`: CollectiveModel::tree_far_copies.
[[nodiscard]] Drafts draft_tree(Routes& routes, const Groups& groups, CollectiveKind kind, double far_copies = 1);

// Recursive vector halving and distance doubling, and back (Rabenseifner): the largest messages go to neighbours.
// Powers of two only; not all-to-all or broadcast.
[[nodiscard]] Drafts draft_halving_doubling(Routes& routes, const Groups& groups, CollectiveKind kind);

// Rings inside the domains, then rings across between ranks of the same place, then inside again. Several domains of
// the same size, at least 2, only.
[[nodiscard]] Drafts draft_hierarchical(Routes& routes, const Groups& groups, CollectiveKind kind);

// All-reduce on a grid of rows and columns, rings in both directions: one half of the data along rows, then columns,
// the other half columns first (Hoefler et al., "HammingMesh", SC'22). Rows are domains where there are several of one
// size, else the most square grid of the group's ranks.
[[nodiscard]] Drafts draft_torus(Routes& routes, const Groups& groups, CollectiveKind kind);

// Switches add up and copy (NVLink SHARP; De Sensi et al., "Flare", SC'21): nothing travels twice over a link. Where
// every switch between the ranks can; not all-to-all.
[[nodiscard]] Drafts draft_in_network(Routes& routes, const Groups& groups, CollectiveKind kind);

// Everybody to everybody, one after the other. All-to-all only.
[[nodiscard]] Drafts draft_pairwise(Routes& routes, const Groups& groups, CollectiveKind kind);

// Sparse all-reduce (Li and Hoefler, "Near-optimal sparse allreduce", PPoPP'22) at its upper bound of 6 k (p-1)/p
// numbers, k kept with their indices: a third in the split and reduce, the rest in balancing and gathering.
[[nodiscard]] Drafts draft_sparse(Routes& routes, const Groups& groups, CollectiveKind kind, double density,
                                  double entry_size);

// Rings and trees of ranks that have a port each to a crossbar, as the port of the busiest rank sees them: with all
// others left out, the drafts above in time that does not depend on how many they are. Links 0 and 3 of port_graph.
[[nodiscard]] Drafts draft_on_ports(CollectiveAlgorithm algorithm, std::size_t ranks, Nanoseconds latency,
                                    CollectiveKind kind);
// Rank k's port: link 2k to the crossbar, with the latency, and 2k + 1 back.
[[nodiscard]] LinkGraph port_graph(std::size_t ranks, std::int64_t bandwidth, Nanoseconds latency);

[[nodiscard]] Drafts draft(CollectiveAlgorithm algorithm, Routes& routes, const Groups& groups, CollectiveKind kind,
                           const CollectiveModel& model);

// What the ring of one order costs: its edges, and the chain of its p - 1 messages.
void add_ring(Routes& routes, const Ranks& order, double count, std::int64_t rounds, PhaseDraft& phase);

}  // namespace debubble::collectives
