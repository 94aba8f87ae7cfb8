// Flows share links max-min fairly, and shares change whenever a flow begins or ends.
//
//     link of 10:  A = 100 from 0, B = 40 from 2     A alone at 10, both at 5, B ends at 10, A at 10 again, ends at 14
//
// A flow that never meets another on a link that both could fill keeps its length alone, to the nanosecond. Where they
// meet, only the flows that depend on each other through full links are solved again. What is left of a flow is
// counted in fractions of bytes, its end is rounded up to a nanosecond.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/flow.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/engine/flow_network.hpp"
#include "sim/engine/max_min.hpp"

namespace debubble {
namespace {

struct SharedRoute {
  std::vector<LinkShare> classes;  // `link` is the class
  double fastest = 0;              // bytes per nanosecond, alone in the network
};

// Links that the same routes cross count as one. The eight rails of eight tensor ranks, or a network card's two hops,
// limit the flows on them alike, so the tightest of them represents all.
struct LinkClasses {
  std::vector<double> capacity;     // by class, bytes per nanosecond
  std::vector<SharedRoute> routes;  // in the order given
};

constexpr double kBytesPerNanosecond = 1e-9;  // of bytes per second

struct Crossing {
  std::int32_t route = 0;
  double weight = 1;

  friend bool operator==(const Crossing&, const Crossing&) = default;
};

// Phase 1: which routes cross each link that can fill up. Links that are not shared, or without a limit, slow a flow
// down at most by itself, which fastest_of already counts.
std::vector<std::vector<Crossing>> crossings_of(const LinkGraph& graph, const std::vector<FlowPath>& routes) {
  std::vector<std::vector<Crossing>> crossings(graph.links.size());
  for (std::size_t r = 0; r < routes.size(); ++r) {
    for (const LinkShare& share : routes[r].links) {
      const Link& link = at(graph.links, share.link);
      if (!link.shared || link.bandwidth == 0) continue;
      at(crossings, share.link).push_back({static_cast<std::int32_t>(r), share.weight});
    }
  }
  return crossings;
}

// Of the routes only, not of their weights: those are doubles, and which are equal is for the comparison to say.
std::uint64_t hash_of(const std::vector<Crossing>& crossings) {
  std::uint64_t hash = crossings.size();
  for (const Crossing& crossing : crossings) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    hash = (hash ^ static_cast<std::uint64_t>(crossing.route)) * kOdd;
    hash ^= hash >> 29;
  }
  return hash;
}

// What a route gets alone: its tightest link, or the bound of its own.
double fastest_of(const LinkGraph& graph, const FlowPath& path) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const LinkShare& share : path.links) {
    const std::int64_t bandwidth = at(graph.links, share.link).bandwidth;
    if (bandwidth == 0) continue;
    fastest = std::min(fastest, static_cast<double>(bandwidth) * kBytesPerNanosecond / share.weight);
  }
  if (path.bound != 0) fastest = std::min(fastest, static_cast<double>(path.bound) * kBytesPerNanosecond);
  return fastest;
}

// Phase 2: links with the same crossings are one class. If the same flows take the same shares of two links, the one
// with less capacity is full first, so the other never limits anything: max-min rates stay exactly the same.
LinkClasses classify_links(const LinkGraph& graph, const std::vector<FlowPath>& routes) {
  LinkClasses classes;
  for (const FlowPath& route : routes) classes.routes.push_back({{}, fastest_of(graph, route)});
  std::vector<std::vector<Crossing>> crossings = crossings_of(graph, routes);
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> known;  // classes by hash
  std::vector<std::int32_t> member;                                    // by class: a link of it
  for (std::size_t l = 0; l < crossings.size(); ++l) {
    if (crossings[l].empty()) continue;
    // In terms of the first route: a link whose flows all weigh twice as much is one of half the capacity.
    const double unit = crossings[l].front().weight;
    for (Crossing& crossing : crossings[l]) crossing.weight /= unit;
    const double capacity = static_cast<double>(graph.links[l].bandwidth) * kBytesPerNanosecond / unit;
    std::vector<std::int32_t>& candidates = known[hash_of(crossings[l])];
    const auto same = std::find_if(candidates.begin(), candidates.end(),
                                   [&](std::int32_t c) { return at(crossings, at(member, c)) == crossings[l]; });
    if (same != candidates.end()) {
      at(classes.capacity, *same) = std::min(at(classes.capacity, *same), capacity);
      continue;
    }
    const auto made = static_cast<std::int32_t>(classes.capacity.size());
    candidates.push_back(made);
    member.push_back(static_cast<std::int32_t>(l));
    classes.capacity.push_back(capacity);
    for (const Crossing& crossing : crossings[l]) {
      at(classes.routes, crossing.route).classes.push_back({made, crossing.weight});
    }
  }
  return classes;
}

class FluidNetwork : public FlowNetwork {
 public:
  FluidNetwork(const LinkGraph& graph, EventQueue& queue) : graph_(graph), queue_(queue) {}

  std::int32_t add_route(const std::vector<FlowPath>& paths, Form form) override;
  [[nodiscard]] Nanoseconds latency_after(std::int32_t route) const override;
  void prepare() override;
  void begin(std::int32_t route, Bytes bytes, Nanoseconds alone, FlowOwner owner, Nanoseconds now) override;
  FlowOwner fire(std::uint32_t index, Nanoseconds now) override;
  void settle(Nanoseconds now) override;

 private:
  struct Active {
    std::int32_t route = -1;  // -1: nothing flows here
    std::int32_t solved = 0;
    FlowOwner owner = kInFlight;
    double left = 0;  // bytes at `since`
    double rate = 0;  // bytes per nanosecond since then
    Nanoseconds since = 0;
    Nanoseconds end = 0;
    Nanoseconds earliest = 0;  // its end had it been alone
    std::uint32_t seen = 0;    // the last round that looked at it
  };
  struct Class {
    double capacity = 0;
    double demand = 0;  // what its flows would take alone; up to the capacity no flow slows another
    std::vector<std::int32_t> flows;
    std::uint32_t seen = 0;
    std::int32_t solved = 0;

    [[nodiscard]] bool tight() const;
  };

  [[nodiscard]] const SharedRoute& route_of(const Active& flow) const { return at(classes_of_.routes, flow.route); }
  void look_at_class(std::int32_t index);
  void look_at_flow(std::int32_t slot);
  void collect();
  void change_rate(std::int32_t slot, double rate, Nanoseconds now);

  const LinkGraph& graph_;
  EventQueue& queue_;
  std::vector<FlowPath> paths_;
  LinkClasses classes_of_;
  std::vector<Class> classes_;
  std::vector<Active> flows_;
  std::vector<std::int32_t> unused_;  // slots in flows_
  std::vector<std::int32_t> dirty_;   // classes on which flows must be solved again
  std::uint32_t round_ = 0;
  std::vector<std::int32_t> met_flows_;    // of this round
  std::vector<std::int32_t> met_classes_;  // of this round
  MaxMin max_min_;
};

constexpr double kShareRounding = 1e-9;  // relative: sums of shares that differ by less are one

// Rounded up, but not for what is rounding itself.
Nanoseconds flow_nanoseconds(double time) {
  constexpr double kNoise = 1e-12;
  constexpr double kLeast = 1e-6;
  return static_cast<Nanoseconds>(std::ceil(std::min(time * (1 - kNoise) - kLeast, 0x1p62)));
}

// Whether its flows slow each other down. Otherwise each gets what it would get alone, and none depends on the others.
bool FluidNetwork::Class::tight() const { return demand > capacity * (1 + kShareRounding); }

std::int32_t FluidNetwork::add_route(const std::vector<FlowPath>& paths, Form) {
  paths_.push_back(paths.at(0));
  return static_cast<std::int32_t>(paths_.size()) - 1;
}

Nanoseconds FluidNetwork::latency_after(std::int32_t route) const { return at(paths_, route).latency; }

// Classes depend on which routes share links, so all routes must be known.
void FluidNetwork::prepare() {
  classes_of_ = classify_links(graph_, paths_);
  classes_.resize(classes_of_.capacity.size());
  for (std::size_t c = 0; c < classes_.size(); ++c) classes_[c].capacity = classes_of_.capacity[c];
}

void FluidNetwork::begin(std::int32_t route, Bytes bytes, Nanoseconds alone, FlowOwner owner, Nanoseconds now) {
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::int32_t>(flows_.size()));
    flows_.emplace_back();
  }
  const std::int32_t slot = unused_.back();
  unused_.pop_back();
  const SharedRoute& shared = at(classes_of_.routes, route);
  Active& flow = at(flows_, slot);
  flow = {route, 0, owner, static_cast<double>(bytes), shared.fastest, now, now + alone, now + alone, flow.seen};
  // The usual case costs no solving: on classes with room the flow ends when it would alone, and its event is exact.
  bool meets = false;
  for (const LinkShare& share : shared.classes) {
    Class& on = at(classes_, share.link);
    on.flows.push_back(slot);
    on.demand += share.weight * shared.fastest;
    if (!on.tight()) continue;
    dirty_.push_back(share.link);
    meets = true;
  }
  if (meets) flow.rate = 0;  // until settled
  if (!meets) queue_.push({flow.end, {Event::Kind::kNetwork, 0, static_cast<std::uint32_t>(slot)}});
}

FlowOwner FluidNetwork::fire(std::uint32_t index, Nanoseconds now) {
  const auto slot = static_cast<std::int32_t>(index);
  Active& flow = at(flows_, slot);
  if (flow.route < 0 || flow.end != now || flow.rate == 0) return kInFlight;  // its end has moved since
  const SharedRoute& shared = route_of(flow);
  for (const LinkShare& share : shared.classes) {
    Class& on = at(classes_, share.link);
    // Asked before it leaves: a class that was tight until now gives its room to the flows that stay.
    if (on.tight()) dirty_.push_back(share.link);
    const auto here = std::find(on.flows.begin(), on.flows.end(), slot);
    *here = on.flows.back();
    on.flows.pop_back();
    // Exactly 0 on an empty class, so that rounding never adds up over a run.
    on.demand = on.flows.empty() ? 0 : on.demand - share.weight * shared.fastest;
  }
  flow.route = -1;
  unused_.push_back(slot);
  return flow.owner;
}

void FluidNetwork::look_at_class(std::int32_t index) {
  Class& on = at(classes_, index);
  if (on.seen == round_) return;
  on.seen = round_;
  met_classes_.push_back(index);
}

void FluidNetwork::look_at_flow(std::int32_t slot) {
  Active& flow = at(flows_, slot);
  if (flow.seen == round_) return;
  flow.seen = round_;
  met_flows_.push_back(slot);
  for (const LinkShare& share : route_of(flow).classes) {
    if (at(classes_, share.link).tight()) look_at_class(share.link);
  }
}

// All flows that depend on the dirty classes through tight ones: the connected part of the graph of flows and tight
// classes. A class with room joins nothing, for its flows take no less whatever the others do. `round_` marks what has
// been visited without clearing any marks.
void FluidNetwork::collect() {
  ++round_;
  met_flows_.clear();
  met_classes_.clear();
  for (const std::int32_t index : dirty_) look_at_class(index);
  dirty_.clear();
  // NOLINTNEXTLINE(modernize-loop-convert): look_at_flow adds to what is walked
  for (std::size_t next = 0; next < met_classes_.size(); ++next) {
    for (const std::int32_t slot : at(classes_, met_classes_[next]).flows) look_at_flow(slot);
  }
}

// Once per instant, after all its flows have begun and ended. A dirty class may have room again; its flows are solved
// all the same, for they were slowed down until now.
void FluidNetwork::settle(Nanoseconds now) {
  if (dirty_.empty()) return;
  collect();
  max_min_.clear();
  for (const std::int32_t index : met_classes_) {
    Class& on = at(classes_, index);
    on.solved = on.tight() ? max_min_.add_link(on.capacity) : -1;
  }
  for (const std::int32_t slot : met_flows_) {
    Active& flow = at(flows_, slot);
    flow.solved = max_min_.add_flow(route_of(flow).fastest);
    for (const LinkShare& share : route_of(flow).classes) {
      const Class& on = at(classes_, share.link);
      if (on.seen == round_ && on.solved >= 0) max_min_.cross(on.solved, share.weight);
    }
  }
  max_min_.solve();
  for (const std::int32_t slot : met_flows_) change_rate(slot, max_min_.rate(at(flows_, slot).solved), now);
}

void FluidNetwork::change_rate(std::int32_t slot, double rate, Nanoseconds now) {
  Active& flow = at(flows_, slot);
  // A rate that comes out the same keeps its end: to work it out again would only add rounding, and an event.
  constexpr double kUnchanged = 1e-13;
  if (flow.rate > 0 && std::abs(rate - flow.rate) <= kUnchanged * flow.rate) return;
  flow.left = std::max(0.0, flow.left - flow.rate * static_cast<double>(now - flow.since));
  flow.since = now;
  flow.rate = rate;
  // Contention never makes it faster than alone, which rounding could.
  flow.end = std::max(flow.earliest, now + flow_nanoseconds(flow.left / rate));
  queue_.push({flow.end, {Event::Kind::kNetwork, 0, static_cast<std::uint32_t>(slot)}});
}

}  // namespace

std::unique_ptr<FlowNetwork> fluid_network(const LinkGraph& graph, EventQueue& queue) {
  return std::make_unique<FluidNetwork>(graph, queue);
}

}  // namespace debubble
