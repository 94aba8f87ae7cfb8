// What collective algorithms are planned with: groups cut at the borders of their fast domains, the routes between
// ranks, and phases that still know how many messages they send, not yet how long one takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/core/flow.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/core/units.hpp"

namespace debubble::collectives {

using Ranks = std::vector<std::int32_t>;  // devices of the graph

// Messages that follow each other on the longest chain of a phase, and the latency of the links they cross.
struct Messages {
  std::int64_t near = 0;  // within a domain
  std::int64_t far = 0;   // between domains
  Nanoseconds near_links = 0;
  Nanoseconds far_links = 0;

  // Appends `times` chains like `other`.
  void append(const Messages& other, std::int64_t times = 1);
  // Keeps the longer chain: more far messages, then more latency of links, then more near messages.
  void keep_longer(const Messages& other);
};

// One phase for buffers of any size: each link takes links[k].weight * scale of the buffer. Counting messages in whole
// numbers and scaling once keeps the sums exact.
struct PhaseDraft {
  std::vector<LinkShare> links;
  double scale = 1;
  Messages messages;
};

// The routes of one graph, each looked up once.
class Routes {
 public:
  explicit Routes(const LinkGraph& graph) : graph_(&graph) {}

  // Good until the next call.
  [[nodiscard]] std::span<const std::int32_t> route(std::int32_t from, std::int32_t to);
  [[nodiscard]] Messages message(std::int32_t from, std::int32_t to);
  [[nodiscard]] std::int32_t domain(std::int32_t device) const;
  [[nodiscard]] const LinkGraph& graph() const { return *graph_; }
  // Adds `count` messages to the links between two ranks.
  void send(std::int32_t from, std::int32_t to, double count, PhaseDraft& phase);

 private:
  const LinkGraph* graph_;
  struct Place {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::unordered_map<std::uint64_t, Place> places_;
  std::vector<std::int32_t> links_;  // of all routes, one after the other
};

// The ranks of a group by domain: domains in the order in which the group names them.
[[nodiscard]] std::vector<Ranks> by_domain(const Routes& routes, const Ranks& group);
// Whether every domain holds the same number of ranks.
[[nodiscard]] bool even(const std::vector<Ranks>& domains);

// Sorts the links and adds up duplicates.
void merge(std::vector<LinkShare>& links);

}  // namespace debubble::collectives
