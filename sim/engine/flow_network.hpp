// FlowNetwork: flows in progress in an event-driven run, and when the last byte of each leaves. Internal to sim/engine.
//
// Who runs it registers every route that flows may take, then begins flows at the current time. The network puts events
// into the queue; whoever pops one of them hands it back to `fire`, which says whether a flow is done. After all that
// happens at one instant `settle` works out how those that met share their links.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/core/flow.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/packed_name.hpp"

namespace debubble {

// Whose flow it is, so that whoever runs the network knows what has arrived.
enum class FlowUse : std::uint8_t {
  kInFlight,  // none: nothing has arrived
  kInput,     // index: an input of a cell in that replica (Activities::inputs)
  kNode,      // index: a node of the program in that replica, a held transfer or a copy, which ends with the flow
  kPhase,     // index: a step task's sequence of phases
  kListed,    // index: of a list of flows (tests/cluster/flows.hpp)
};
using FlowOwner = PackedName<FlowUse>;

class FlowNetwork {
 public:
  static constexpr FlowOwner kInFlight{FlowUse::kInFlight, 0, 0};

  virtual ~FlowNetwork() = default;

  // How a flow uses its route: bytes that stream over all links at once, or a message that goes from link to link (the
  // same where the network is fluid).
  enum class Form : std::uint8_t { kTogether, kLinkAfterLink };
  // Several paths: one message over each (link after link only).
  virtual std::int32_t add_route(const std::vector<FlowPath>& paths, Form form) = 0;
  // What is left of the route's latency when `fire` has said that a flow is done.
  [[nodiscard]] virtual Nanoseconds latency_after(std::int32_t route) const = 0;
  // After the last route, before the first flow.
  virtual void prepare() = 0;

  // `alone`: how long its bytes take alone, above 0. `owner`: returned by `fire`.
  virtual void begin(std::int32_t route, Bytes bytes, Nanoseconds alone, FlowOwner owner, Nanoseconds now) = 0;
  // For an event of this network, with its index. Returns the owner of a flow whose last byte has left (fluid) or
  // arrived (link after link), else kInFlight.
  virtual FlowOwner fire(std::uint32_t index, Nanoseconds now) = 0;
  virtual void settle(Nanoseconds now) = 0;
};

// Each in a source of its own, fluid.cpp and fifo.cpp.
[[nodiscard]] std::unique_ptr<FlowNetwork> fluid_network(const LinkGraph& graph, EventQueue& queue);
[[nodiscard]] std::unique_ptr<FlowNetwork> fifo_network(const LinkGraph& graph, EventQueue& queue);
// Null where flows never slow each other down. Its events are of kind kNetwork.
[[nodiscard]] std::unique_ptr<FlowNetwork> make_network(const LinkGraph& graph, NetworkModel model, EventQueue& queue);

}  // namespace debubble
