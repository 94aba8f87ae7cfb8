// ClusterLanes: the lanes of every simulated device, as a ClusterRun's nodes and step tasks take and leave them; and
// what each device has done so far. Internal to sim/engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/program.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble {

// What released something, within one replica: a node's end or a step task's.
struct Cause {
  enum class Kind : std::uint8_t { kNothing, kNode, kTask };
  Kind kind = Kind::kNothing;
  std::int32_t index = -1;  // node, or task run
};

// Compute whose speed changes while it runs. Its length is kept as work left, not as time left, so that any number of
// changes add up to the same work.
struct StretchedWork {
  double left = 0;  // nanoseconds of undisturbed work at `since`
  Nanoseconds since = 0;
  double factor = 1;  // how many nanoseconds one of them takes since then

  // From `now` on it takes `by` times as long; returns its new end. Rounded up, but not for what is rounding itself.
  Nanoseconds stretch(Nanoseconds now, double by) {
    constexpr double kRounding = 1e-6;
    left -= static_cast<double>(now - since) / factor;
    since = now;
    factor = by;
    const double time = std::ceil(std::min(left * factor - kRounding, 0x1p62));
    return now + std::max<Nanoseconds>(static_cast<Nanoseconds>(time), 0);
  }
};

// The lanes of one device in one replica.
struct DeviceLanes {
  std::int32_t occupied = 0;     // cells and transfers that hold the compute lane
  std::int32_t task = -1;        // task run on the compute lane
  std::int32_t collective = -1;  // task run on the collective lane
  std::int32_t running = -1;     // the cell's node
  double slow = 1;               // by how much a collective stretches compute
  double beside = 1;             // the same of other devices at work on the same GPU, for the running cell
  StretchedWork work;            // of the running cell
  Cause last;                    // that held the compute lane
  Nanoseconds last_end = 0;
  Cause last_collective;
};

class ClusterLanes {
 public:
  ClusterLanes(const Program& program, int replicas)
      : devices_(program.devices), lanes_(static_cast<std::size_t>(replicas) * static_cast<std::size_t>(devices_)) {
    DeviceTotals nothing;
    nothing.first_begin = -1;
    totals_.assign(lanes_.size(), nothing);
  }

  [[nodiscard]] DeviceLanes& of(int replica, std::int32_t device) { return lanes_[index(replica, device)]; }
  [[nodiscard]] const DeviceLanes& of(int replica, std::int32_t device) const { return lanes_[index(replica, device)]; }
  [[nodiscard]] DeviceTotals& totals(int replica, std::int32_t device) { return totals_[index(replica, device)]; }
  [[nodiscard]] const DeviceTotals& totals(int replica, std::int32_t device) const {
    return totals_[index(replica, device)];
  }

  // Whether lanes must be looked at at all: step tasks take compute lanes or slow compute down. Without any, the
  // program's own order keeps every lane free for what may begin, and looking costs time.
  [[nodiscard]] bool contended() const { return contended_; }
  void set_contended() { contended_ = true; }

 private:
  [[nodiscard]] std::size_t index(int replica, std::int32_t device) const {
    return static_cast<std::size_t>(replica) * static_cast<std::size_t>(devices_) + static_cast<std::size_t>(device);
  }

  int devices_;
  bool contended_ = false;
  std::vector<DeviceLanes> lanes_;  // by replica, then device
  std::vector<DeviceTotals> totals_;
};

}  // namespace debubble
