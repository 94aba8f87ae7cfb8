// One walk over a device's memory events, in the order that defines its peak. Internal to sim/analysis.
//
// Spans are taken in running order. What has arrived by a span's begin counts before the span allocates; what arrives
// before its end counts before it releases. Within one instant, then: earlier spans' ends, arrivals, the next begin.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "sim/analysis/report.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// Called after every change with the time, all categories, and the span at work (or about to use what arrived).
using MemoryObserver = std::function<void(Nanoseconds at, const BytesByCategory& bytes, const Span& span)>;

class MemoryWalk {
 public:
  MemoryWalk(const Timeline& timeline, const Schedule& schedule, const StageCosts& costs);

  // What the device holds before anything runs.
  [[nodiscard]] const BytesByCategory& resident(int device) const {
    return resident_[static_cast<std::size_t>(device)];
  }

  void run(int device, const MemoryObserver& observe) const;

 private:
  const Timeline& timeline_;
  const Schedule& schedule_;
  const StageCosts& costs_;
  std::vector<BytesByCategory> resident_;  // by device
  // Indexes of transfers by receiving device, in order of arrival.
  std::vector<std::vector<std::int32_t>> arrivals_;
  std::vector<Bytes> received_;  // by span: bytes of its inputs from other devices
};

[[nodiscard]] Bytes total(const BytesByCategory& bytes);

}  // namespace debubble
