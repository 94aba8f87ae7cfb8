#include "sim/engine/fluid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

constexpr double kShareRounding = 1e-9;  // relative: sums of shares that differ by less are one

// Rounded up, but not for what is rounding itself.
Nanoseconds flow_nanoseconds(double time) {
  constexpr double kNoise = 1e-12;
  constexpr double kLeast = 1e-6;
  return static_cast<Nanoseconds>(std::ceil(std::min(time * (1 - kNoise) - kLeast, 0x1p62)));
}

}  // namespace

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

}  // namespace debubble
