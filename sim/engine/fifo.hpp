// FifoNetwork: every link serves one message after the other, and each switch stores a whole message before it sends it
// on: the congestion-aware analytical backend of ASTRA-sim (Won et al., ISPASS 2023). Internal to sim/engine.
//
//     50 GB/s, 500 ns, 1 MiB    19 531 ns on a link, truncated as there; over a switch 2 x (19 531 + 500) = 40 062 ns
//
// A flow over many links together (a collective) waits until all of them are free, and holds them all as long as it
// lasts.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/flow_network.hpp"

#include "sim/core/at.hpp"

namespace debubble {

class FifoNetwork : public FlowNetwork {
 public:
  FifoNetwork(const LinkGraph& graph, EventQueue& queue) : graph_(graph), queue_(queue), free_(graph.links.size(), 0) {}

  std::int32_t add_route(const std::vector<FlowPath>& paths, Form form) override;
  [[nodiscard]] Nanoseconds latency_after(std::int32_t route) const override;
  void prepare() override {}
  void begin(std::int32_t route, Bytes bytes, Nanoseconds alone, FlowOwner owner, Nanoseconds now) override;
  FlowOwner fire(std::uint32_t index, Nanoseconds now) override;
  void settle(Nanoseconds) override {}

 private:
  struct Route {
    std::vector<FlowPath> paths;
    Form form = Form::kTogether;
  };
  struct Message {
    std::int32_t route = -1;
    std::size_t path = 0;  // of the route
    std::size_t next = 0;  // link of the path
    Bytes bytes = 0;
    std::size_t group = 0;
  };
  // Messages of one flow.
  struct Group {
    FlowOwner owner = kInFlight;
    std::size_t in_flight = 0;
  };

  [[nodiscard]] const FlowPath& path_of(const Message& message) const {
    return at(routes_, message.route).paths[message.path];
  }
  std::size_t new_message(std::int32_t route, std::size_t path, Bytes bytes, std::size_t group);
  void enter_next_link(std::size_t slot, Nanoseconds now);
  void hold_all(std::size_t slot, Nanoseconds alone, Nanoseconds now);

  const LinkGraph& graph_;
  EventQueue& queue_;
  std::vector<Nanoseconds> free_;  // by link
  std::vector<Route> routes_;
  std::vector<Message> messages_;
  std::vector<std::size_t> unused_;  // slots in messages_
  std::vector<Group> groups_;
  std::vector<std::size_t> unused_groups_;
};

}  // namespace debubble
