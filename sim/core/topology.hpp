// Topology: how long a transfer between two devices takes.
//
// Links are ideal: any number of transfers at once, each with the full bandwidth. Sharing a link belongs behind this
// interface and into an event-driven simulate, once there are link graphs; nothing else has to know.
#pragma once

#include "sim/core/units.hpp"

namespace debubble {

// The two parts of a transfer's duration. The bytes leave first, then the last one travels.
struct TransferTime {
  Nanoseconds serialisation = 0;  // bytes / bandwidth, rounded up
  Nanoseconds latency = 0;

  [[nodiscard]] Nanoseconds total() const { return serialisation + latency; }
};

class Topology {
 public:
  // Every pair of different devices is joined by its own link. `bandwidth` is in bytes per second; 0 means unlimited.
  static Topology ideal(Nanoseconds latency, std::int64_t bandwidth);

  // Time for `bytes` from one device to another; nothing between stages on one device.
  [[nodiscard]] TransferTime transfer(int from_device, int to_device, Bytes bytes) const;
  [[nodiscard]] Nanoseconds latency() const { return latency_; }
  [[nodiscard]] std::int64_t bandwidth() const { return bandwidth_; }

 private:
  Nanoseconds latency_ = 0;
  std::int64_t bandwidth_ = 0;
};

}  // namespace debubble
