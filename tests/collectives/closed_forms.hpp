// What collectives cost on p ranks that each send and receive at one rate: alpha terms and beta terms, as textbooks
// have them. Plans (collective.hpp) come to the same on a cluster where that holds; these are for checks and
// comparisons.
//
//     time = messages * alpha + bytes * beta      alpha: seconds per message, beta: seconds per byte (1 / bandwidth)
//
// n is every rank's full buffer: for all-gather and reduce-scatter the gathered size, as in nccl-tests. Sources:
// Thakur, Rabenseifner, Gropp, IJHPCA 2005; for the others see each function.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace debubble::closed_forms {

struct Cost {
  double messages = 0;  // one after the other
  double bytes = 0;     // over the busiest port, in one direction
  double reduced = 0;   // bytes that a rank adds up; hidden behind the network unless a gamma is given

  [[nodiscard]] double seconds(double alpha, double beta, double gamma = 0) const {
    return messages * alpha + bytes * beta + reduced * gamma;
  }
};

[[nodiscard]] inline double log2_up(int p) { return static_cast<double>(std::bit_width(static_cast<unsigned>(p - 1))); }
// The part of the buffer that is somebody else's.
[[nodiscard]] inline double others(int p) { return static_cast<double>(p - 1) / p; }

[[nodiscard]] inline Cost point_to_point(double n) { return {1, n, 0}; }

// Bandwidth-optimal: no rank can send less.
[[nodiscard]] inline Cost ring_all_reduce(int p, double n) { return {2.0 * (p - 1), 2 * others(p) * n, others(p) * n}; }
[[nodiscard]] inline Cost ring_all_gather(int p, double n) { return {p - 1.0, others(p) * n, 0}; }
[[nodiscard]] inline Cost ring_reduce_scatter(int p, double n) { return {p - 1.0, others(p) * n, others(p) * n}; }
[[nodiscard]] inline Cost pairwise_all_to_all(int p, double n) { return {p - 1.0, others(p) * n, 0}; }

// The whole buffer to a partner in each of log2 p steps: for small buffers.
[[nodiscard]] inline Cost recursive_doubling_all_reduce(int p, double n) {
  return {log2_up(p), log2_up(p) * n, log2_up(p) * n};
}
// Rabenseifner's: recursive halving, then doubling; p a power of two.
[[nodiscard]] inline Cost halving_doubling_all_reduce(int p, double n) {
  return {2 * log2_up(p), 2 * others(p) * n, others(p) * n};
}

[[nodiscard]] inline Cost binomial_broadcast(int p, double n) { return {log2_up(p), log2_up(p) * n, 0}; }
// A chain, the buffer cut into `chunks`.
[[nodiscard]] inline Cost chain_broadcast(int p, double n, int chunks) {
  const double steps = p - 2.0 + chunks;
  return {steps, steps * n / chunks, 0};
}

// Two trees with half of the data each, cut into chunks small enough that start-up does not count: an inner node of one
// tree is a leaf of the other, so a rank sends and receives 2 n (Sanders, Speck, Traeff 2009; NCCL's tree).
[[nodiscard]] inline Cost double_tree_all_reduce(int p, double n) { return {2 * log2_up(p), 2 * n, n}; }

// Switches add up: each rank sends n once and receives n once; `levels` of switches (Flare, SC'21; NVLink SHARP).
[[nodiscard]] inline Cost in_network_all_reduce(int levels, double n) { return {2.0 * levels, n, 0}; }
// What a switch lets through that adds up `switch_rate` bytes per second for so many children, in bytes per second.
[[nodiscard]] inline double in_network_rate(double link_rate, double switch_rate, int children) {
  return std::min(link_rate, switch_rate / children);
}
// The share of entries that are not zero after adding up `children` sparse buffers of that density (Flare).
[[nodiscard]] inline double filled_in(double density, int children) { return 1 - std::pow(1 - density, children); }

// Inside groups of g, then across e of them on n / g, then inside again.
[[nodiscard]] inline Cost hierarchical_inside(int g, double n) { return {2.0 * (g - 1), 2 * others(g) * n, 0}; }
[[nodiscard]] inline Cost hierarchical_across(int g, int e, double n) { return ring_all_reduce(e, n / g); }

// A q x q torus with four links per rank: all-reduce along rows, then columns, in both directions; the other half of
// the data along columns first. bytes are those of one link (Hoefler et al., HammingMesh, SC'22).
[[nodiscard]] inline Cost torus_all_reduce(int q, double n) { return {4.0 * (q - 1), others(q) * n, 0}; }
// Two edge-disjoint rings, in both directions, a quarter of the data each (the same paper), all 2 (p - 1) steps of
// n/4/p.
[[nodiscard]] inline Cost two_rings_all_reduce(int p, double n) { return {2.0 * (p - 1), 2 * others(p) * n / 4, 0}; }

// Sparse all-reduce of k of a buffer's entries, an entry and its index in `entry` bytes (Li and Hoefler, PPoPP'22).
[[nodiscard]] inline Cost top_k_all_gather(int p, double k, double entry) {
  return {log2_up(p), (p - 1) * k * entry, 0};
}
// Dynamic sparse all-reduce; `dense` is the whole buffer in bytes, the worst that fill-in comes to.
[[nodiscard]] inline Cost top_k_dynamic_least(int p, double k, double entry) {
  return {p + 2 * log2_up(p), 2 * others(p) * k * entry, 0};
}
[[nodiscard]] inline Cost top_k_dynamic_most(int p, double k, double entry, double dense) {
  return {p + 2 * log2_up(p), others(p) * (k * entry + dense), 0};
}
[[nodiscard]] inline Cost global_top_k_tree(int p, double k, double entry) {
  return {2 * log2_up(p), 2 * log2_up(p) * k * entry, 0};
}
[[nodiscard]] inline Cost ok_topk_least(int p, double k, double entry) {
  return {2.0 * p + 2 * log2_up(p), others(p) * k * entry, 0};
}
[[nodiscard]] inline Cost ok_topk_most(int p, double k, double entry) {
  return {2.0 * p + 2 * log2_up(p), 3 * others(p) * k * entry, 0};
}

}  // namespace debubble::closed_forms
