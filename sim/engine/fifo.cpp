// Every link serves one message after the other, and each switch stores a whole message before it sends it
// on: the congestion-aware analytical backend of ASTRA-sim (Won et al., ISPASS 2023).
//
//     50 GB/s, 500 ns, 1 MiB    19 531 ns on a link, truncated as there; over a switch 2 x (19 531 + 500) = 40 062 ns
//
// A flow over many links together (a collective) waits until all of them are free, and holds them all as long as it
// lasts.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/topology.hpp"
#include "sim/engine/flow_network.hpp"

namespace debubble {
namespace {

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

// As often as the route takes the link; less where transfers are calibrated.
Nanoseconds latency_on(const LinkShare& share, const LinkGraph& graph) {
  const Nanoseconds latency = at(graph.links, share.link).latency;
  return share.weight == 1 ? latency : static_cast<Nanoseconds>(static_cast<double>(latency) * share.weight);
}

std::int32_t FifoNetwork::add_route(const std::vector<FlowPath>& paths, Form form) {
  routes_.push_back({paths, form});
  return static_cast<std::int32_t>(routes_.size()) - 1;
}

// Link after link, each link's latency is paid as the message passes it; what a message costs beyond them comes last.
Nanoseconds FifoNetwork::latency_after(std::int32_t route) const {
  const Route& of = at(routes_, route);
  if (of.form == Form::kTogether) return of.paths.front().latency;
  Nanoseconds most = 0;
  for (const FlowPath& path : of.paths) {
    Nanoseconds left = path.latency;
    for (const LinkShare& share : path.links) left -= latency_on(share, graph_);
    most = std::max(most, left);
  }
  return most;
}

std::size_t FifoNetwork::new_message(std::int32_t route, std::size_t path, Bytes bytes, std::size_t group) {
  if (unused_.empty()) {
    unused_.push_back(messages_.size());
    messages_.emplace_back();
  }
  const std::size_t slot = unused_.back();
  unused_.pop_back();
  messages_[slot] = {route, path, 0, bytes, group};
  return slot;
}

void FifoNetwork::begin(std::int32_t route, Bytes bytes, Nanoseconds alone, FlowOwner owner, Nanoseconds now) {
  if (unused_groups_.empty()) {
    unused_groups_.push_back(groups_.size());
    groups_.emplace_back();
  }
  const std::size_t group = unused_groups_.back();
  unused_groups_.pop_back();
  const Route& of = at(routes_, route);
  groups_[group] = {owner, of.paths.size()};
  for (std::size_t path = 0; path < of.paths.size(); ++path) {
    const std::size_t slot = new_message(route, path, bytes, group);
    if (of.form == Form::kTogether) {
      hold_all(slot, alone, now);
    } else {
      enter_next_link(slot, now);
    }
  }
}

FlowOwner FifoNetwork::fire(std::uint32_t index, Nanoseconds now) {
  const auto slot = static_cast<std::size_t>(index);
  const Message& message = messages_[slot];
  const Route& route = at(routes_, message.route);
  if (route.form == Form::kLinkAfterLink && message.next < path_of(message).links.size()) {
    enter_next_link(slot, now);
    return kInFlight;
  }
  const std::size_t group = message.group;
  unused_.push_back(slot);
  if (--groups_[group].in_flight > 0) return kInFlight;
  unused_groups_.push_back(group);
  return groups_[group].owner;
}

void FifoNetwork::enter_next_link(std::size_t slot, Nanoseconds now) {
  Message& message = messages_[slot];
  const LinkShare& share = path_of(message).links[message.next++];
  const Link& link = at(graph_.links, share.link);
  Nanoseconds& free = at(free_, share.link);
  const FlowPath one_link{{share}, 0, 0};
  const Nanoseconds taken = alone({one_link, message.bytes}, graph_, NetworkModel::kFifo).serialisation;
  const Nanoseconds sent = (link.shared ? std::max(free, now) : now) + taken;
  free = std::max(free, sent);
  queue_.push({sent + latency_on(share, graph_), {Event::Kind::kNetwork, 0, static_cast<std::uint32_t>(slot)}});
}

void FifoNetwork::hold_all(std::size_t slot, Nanoseconds alone, Nanoseconds now) {
  const FlowPath& path = path_of(messages_[slot]);
  const auto is_shared = [&](const LinkShare& share) { return at(graph_.links, share.link).shared; };
  Nanoseconds begin = now;
  for (const LinkShare& share : path.links) {
    if (is_shared(share)) begin = std::max(begin, at(free_, share.link));
  }
  for (const LinkShare& share : path.links) {
    if (is_shared(share)) at(free_, share.link) = begin + alone;
  }
  queue_.push({begin + alone, {Event::Kind::kNetwork, 0, static_cast<std::uint32_t>(slot)}});
}

}  // namespace

std::unique_ptr<FlowNetwork> fifo_network(const LinkGraph& graph, EventQueue& queue) {
  return std::make_unique<FifoNetwork>(graph, queue);
}

}  // namespace debubble
