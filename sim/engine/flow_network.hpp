// FlowNetwork: flows under way in an event-driven run, and when the last byte of each leaves. Internal to sim/engine.
//
// Who runs it registers every way that flows may take, then begins flows at the current time. The network puts events
// into the queue; whoever pops one of them hands it back to `fire`, which says whether a flow is done. After all that
// happens at one instant `settle` works out how those that met share their links.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/core/flow.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/engine/event_queue.hpp"

namespace debubble {

class FlowNetwork {
 public:
  static constexpr std::int64_t kUnderWay = -1;

  virtual ~FlowNetwork() = default;

  // How a flow uses its way: bytes that stream over all links at once, or a message that goes from link to link (the
  // same where the network is fluid).
  enum class Form : std::uint8_t { kTogether, kLinkAfterLink };
  // Several paths: one message over each (link after link only).
  virtual std::int32_t add_way(const std::vector<FlowPath>& paths, Form form) = 0;
  // What is left of the way's latency when `fire` has said that a flow is done.
  [[nodiscard]] virtual Nanoseconds latency_after(std::int32_t way) const = 0;
  // After the last way, before the first flow.
  virtual void prepare() = 0;

  // `alone`: how long its bytes take alone, above 0. `owner`: not below 0, returned by `fire`.
  virtual void begin(std::int32_t way, Bytes bytes, Nanoseconds alone, std::int64_t owner, Nanoseconds now) = 0;
  // For an event of this network, with the number that stood in it. Returns the owner of a flow whose last byte has
  // left (fluid) or arrived (link after link), else kUnderWay.
  virtual std::int64_t fire(std::uint64_t number, Nanoseconds now) = 0;
  virtual void settle(Nanoseconds now) = 0;
};

// Events of the network are `first_event` + number; numbers stay below 2^32.
[[nodiscard]] std::unique_ptr<FlowNetwork> make_network(const LinkGraph& graph, NetworkModel model, EventQueue& queue,
                                                        std::uint64_t first_event);

}  // namespace debubble
