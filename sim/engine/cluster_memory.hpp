// ClusterMemory: the least that the devices of a ClusterRun hold: what their ended ops and copies have left there.
// Internal to sim/engine.
//
// Workspace, what has been received, and what an op or copy at work has taken are left out, so that a device whose
// level lasts above its capacity has run out of memory whatever the rest is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/engine/tables.hpp"

namespace debubble {

class ClusterMemory {
 public:
  // `capacities`: one for all devices, or one each, 0 without end; empty: nothing is watched.
  ClusterMemory(const Program& program, const Tables& tables, const std::vector<Bytes>& capacities, int replicas)
      : program_(program), tables_(tables), capacities_(capacities) {
    if (capacities_.empty()) return;
    for (int replica = 0; replica < replicas; ++replica) {
      levels_.insert(levels_.end(), tables.static_bytes.begin(), tables.static_bytes.end());
    }
  }

  void end(int replica, std::size_t cell) {
    if (capacities_.empty()) return;
    const Program::Cell& what = program_.cells[cell];
    const CellCost& cost = tables_.cells[cell];
    if (!what.is_copy) return change(replica, cost.device, cost.at_begin + cost.at_end);
    change(replica, cost.device - program_.devices, what.way == Copy::Way::kOut ? -cost.moved : cost.moved);
  }

  // After all that ends at one instant.
  [[nodiscard]] bool is_full() {
    const auto full = [&](const Place& of) { return level(of.replica, of.device) > capacity(of.device); };
    const bool found = std::any_of(risen_.begin(), risen_.end(), full);
    risen_.clear();
    return found;
  }

 private:
  struct Place {
    int replica = 0;
    std::int32_t device = 0;
  };

  [[nodiscard]] Bytes& level(int replica, std::int32_t device) {
    return at(levels_, replica * program_.devices + device);
  }
  [[nodiscard]] Bytes capacity(std::int32_t device) const {
    return capacities_.size() == 1 ? capacities_.front() : at(capacities_, device);
  }
  void change(int replica, std::int32_t device, Bytes bytes) {
    level(replica, device) += bytes;
    const bool above = capacity(device) > 0 && level(replica, device) > capacity(device);
    if (bytes > 0 && above) risen_.push_back({replica, device});
  }

  const Program& program_;
  const Tables& tables_;
  std::vector<Bytes> capacities_;
  std::vector<Bytes> levels_;  // by replica, then device
  std::vector<Place> risen_;   // above their capacity at this instant
};

}  // namespace debubble
