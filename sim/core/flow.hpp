// Flow: bytes in transit over several links at once. What a transfer between stages and a collective have in common.
//
// A collective is one flow, too: a ring all-reduce of n bytes over p ranks puts 2(p-1)/p n bytes on each link of the
// ring while it lasts, so it is a flow of n bytes whose weight on each of these links is 2(p-1)/p.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

// A flow that progresses at r bytes per second takes weight * r of the link's bandwidth.
struct LinkShare {
  std::int32_t link = 0;
  double weight = 1;

  friend bool operator==(const LinkShare&, const LinkShare&) = default;
};

struct FlowPath {
  std::vector<LinkShare> links;  // each link once, by link number (fluid) or in the order of the route (FIFO)
  Nanoseconds latency = 0;       // paid after the last byte has left: the last one travels
  std::int64_t bound = 0;        // bytes per second it never exceeds, e.g. what a protocol reaches; 0: none

  friend bool operator==(const FlowPath&, const FlowPath&) = default;
};

struct Flow {
  FlowPath path;
  Bytes bytes = 0;
};

// How flows that meet on a link go on.
enum class NetworkModel : std::uint8_t {
  kFluid,       // they share it max-min fairly
  kFifo,        // one after the other; each switch stores and forwards the whole message
  kUncontended  // each as if it were alone
};

}  // namespace debubble
