#include "sim/engine/fifo.hpp"

#include <algorithm>

#include "sim/core/at.hpp"
#include "sim/core/topology.hpp"

namespace debubble {

namespace {

// As often as the route takes the link; less where transfers are calibrated.
Nanoseconds latency_on(const LinkShare& share, const LinkGraph& graph) {
  const Nanoseconds latency = at(graph.links, share.link).latency;
  return share.weight == 1 ? latency : static_cast<Nanoseconds>(static_cast<double>(latency) * share.weight);
}

}  // namespace

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

}  // namespace debubble
