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
  FifoNetwork(const LinkGraph& graph, EventQueue& queue, std::uint64_t first_event)
      : graph_(graph), queue_(queue), first_event_(first_event), free_(graph.links.size(), 0) {}

  std::int32_t add_way(const std::vector<FlowPath>& paths, Form form) override;
  [[nodiscard]] Nanoseconds latency_after(std::int32_t way) const override;
  void prepare() override {}
  void begin(std::int32_t way, Bytes bytes, Nanoseconds alone, std::int64_t owner, Nanoseconds now) override;
  std::int64_t fire(std::uint64_t number, Nanoseconds now) override;
  void settle(Nanoseconds) override {}

 private:
  struct Way {
    std::vector<FlowPath> paths;
    Form form = Form::kTogether;
  };
  struct Message {
    std::int32_t way = -1;
    std::size_t path = 0;  // of the way
    std::size_t next = 0;  // link of the path
    Bytes bytes = 0;
    std::size_t group = 0;
  };
  // Messages of one flow.
  struct Group {
    std::int64_t owner = 0;
    std::size_t under_way = 0;
  };

  [[nodiscard]] const FlowPath& path_of(const Message& message) const {
    return at(ways_, message.way).paths[message.path];
  }
  std::size_t new_message(std::int32_t way, std::size_t path, Bytes bytes, std::size_t group);
  void enter_next_link(std::size_t slot, Nanoseconds now);
  void hold_all(std::size_t slot, Nanoseconds alone, Nanoseconds now);

  const LinkGraph& graph_;
  EventQueue& queue_;
  std::uint64_t first_event_;
  std::vector<Nanoseconds> free_;  // by link
  std::vector<Way> ways_;
  std::vector<Message> messages_;
  std::vector<std::size_t> unused_;  // slots in messages_
  std::vector<Group> groups_;
  std::vector<std::size_t> unused_groups_;
};

}  // namespace debubble
