// GraphBuilder: nodes and links of a LinkGraph, one after the other, with the names that everyone shows.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/link_graph.hpp"

namespace debubble {

// What a link carries in one direction.
struct LinkSpeed {
  std::int64_t bandwidth = 0;  // bytes per second; 0: unlimited
  Nanoseconds latency = 0;
};

// `rate` times `times`, divided by `thousandths` / 1000; never more than kLargestSize nor less than 1.
[[nodiscard]] std::int64_t scaled_rate(std::int64_t rate, std::int64_t times, std::int64_t thousandths = 1000);

class GraphBuilder {
 public:
  // The next device, "gpu0", "gpu1", ..., in a domain. Returns its node.
  std::int32_t add_device(std::int32_t domain);
  std::int32_t add_node(GraphNode::Kind kind, std::string name);
  // A switch; `reduces`: it adds up and copies what flows through it.
  std::int32_t add_reducing_switch(std::string name, bool reduces);
  // One link, named "from>to". Returns its number.
  std::int32_t add_link(std::int32_t from, std::int32_t to, LinkSpeed speed);
  // Both directions: `a` to `b` gets the number returned, `b` to `a` the next.
  std::int32_t connect(std::int32_t a, std::int32_t b, LinkSpeed speed);
  void reserve(std::size_t nodes, std::size_t links);

  [[nodiscard]] const LinkGraph& graph() const { return graph_; }
  // With shortest_paths where `router` is null.
  [[nodiscard]] LinkGraph finish(std::string name, std::shared_ptr<const Router> router);

 private:
  LinkGraph graph_;
};

}  // namespace debubble
