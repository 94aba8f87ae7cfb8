// FluidNetwork: flows share links max-min fairly, and shares change whenever a flow begins or ends. Internal to
// sim/engine.
//
//     link of 10:  A = 100 from 0, B = 40 from 2     A alone at 10, both at 5, B ends at 10, A at 10 again, ends at 14
//
// A flow that never meets another on a link that both could fill keeps its length alone, to the nanosecond. Where they
// meet, only the flows that depend on each other through full links are solved again. What is left of a flow is
// counted in fractions of bytes, its end is rounded up to a nanosecond.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/engine/flow_network.hpp"
#include "sim/engine/link_classes.hpp"
#include "sim/engine/max_min.hpp"

namespace debubble {

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

}  // namespace debubble
