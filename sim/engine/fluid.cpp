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

bool FluidNetwork::Class::tight() const { return demand > capacity * (1 + kShareRounding); }

std::int32_t FluidNetwork::add_way(const std::vector<FlowPath>& paths, Form) {
  paths_.push_back(paths.at(0));
  return static_cast<std::int32_t>(paths_.size()) - 1;
}

Nanoseconds FluidNetwork::latency_after(std::int32_t way) const { return at(paths_, way).latency; }

void FluidNetwork::prepare() {
  classes_of_ = classify_links(graph_, paths_);
  classes_.resize(classes_of_.capacity.size());
  for (std::size_t c = 0; c < classes_.size(); ++c) classes_[c].capacity = classes_of_.capacity[c];
}

void FluidNetwork::begin(std::int32_t way, Bytes bytes, Nanoseconds alone, std::int64_t owner, Nanoseconds now) {
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::int32_t>(flows_.size()));
    flows_.emplace_back();
  }
  const std::int32_t slot = unused_.back();
  unused_.pop_back();
  const SharedWay& shared = at(classes_of_.ways, way);
  Active& flow = at(flows_, slot);
  flow = {way, 0, owner, static_cast<double>(bytes), shared.fastest, now, now + alone, now + alone, flow.seen};
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
  if (!meets) queue_.push({flow.end, first_event_ + static_cast<std::uint64_t>(slot)});
}

std::int64_t FluidNetwork::fire(std::uint64_t number, Nanoseconds now) {
  const auto slot = static_cast<std::int32_t>(number);
  Active& flow = at(flows_, slot);
  if (flow.way < 0 || flow.end != now || flow.rate == 0) return kUnderWay;  // its end has moved since
  const SharedWay& shared = way_of(flow);
  for (const LinkShare& share : shared.classes) {
    Class& on = at(classes_, share.link);
    if (on.tight()) dirty_.push_back(share.link);
    const auto here = std::find(on.flows.begin(), on.flows.end(), slot);
    *here = on.flows.back();
    on.flows.pop_back();
    on.demand = on.flows.empty() ? 0 : on.demand - share.weight * shared.fastest;
  }
  flow.way = -1;
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
  for (const LinkShare& share : way_of(flow).classes) {
    if (at(classes_, share.link).tight()) look_at_class(share.link);
  }
}

// All flows that depend on the dirty classes through tight ones.
void FluidNetwork::collect() {
  ++round_;
  met_flows_.clear();
  met_classes_.clear();
  for (const std::int32_t index : dirty_) look_at_class(index);
  dirty_.clear();
  for (std::size_t next = 0; next < met_classes_.size(); ++next) {
    for (const std::int32_t slot : at(classes_, met_classes_[next]).flows) look_at_flow(slot);
  }
}

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
    flow.solved = max_min_.add_flow(way_of(flow).fastest);
    for (const LinkShare& share : way_of(flow).classes) {
      const Class& on = at(classes_, share.link);
      if (on.seen == round_ && on.solved >= 0) max_min_.cross(on.solved, share.weight);
    }
  }
  max_min_.solve();
  for (const std::int32_t slot : met_flows_) change_rate(slot, max_min_.rate(at(flows_, slot).solved), now);
}

void FluidNetwork::change_rate(std::int32_t slot, double rate, Nanoseconds now) {
  Active& flow = at(flows_, slot);
  constexpr double kUnchanged = 1e-13;
  if (flow.rate > 0 && std::abs(rate - flow.rate) <= kUnchanged * flow.rate) return;
  flow.left = std::max(0.0, flow.left - flow.rate * static_cast<double>(now - flow.since));
  flow.since = now;
  flow.rate = rate;
  flow.end = std::max(flow.earliest, now + flow_nanoseconds(flow.left / rate));
  queue_.push({flow.end, first_event_ + static_cast<std::uint64_t>(slot)});
}

}  // namespace debubble
