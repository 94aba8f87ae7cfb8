// One walk over a device's memory events, in the order that defines its peak. Internal to sim/analysis.
//
// Spans are taken in running order. What has arrived by a span's begin counts before the span allocates; what arrives
// before its end counts before it releases. Within one instant, then: earlier spans' ends, what copies release, what
// arrives or copies take, the next begin.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "sim/analysis/report.hpp"
#include "sim/core/piece_share.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// Called after every change with the time, all categories, and what changed it: the span at work (or about to use what
// arrived), or the copy.
using MemoryObserver = std::function<void(Nanoseconds at, const BytesByCategory& bytes, const Gate& cause)>;

class MemoryWalk {
 public:
  MemoryWalk(const Timeline& timeline, const Schedule& schedule, const StageCosts& costs);

  // What the device holds before anything runs.
  [[nodiscard]] const BytesByCategory& resident(int device) const {
    return resident_[static_cast<std::size_t>(device)];
  }

  void run(int device, const MemoryObserver& observe) const;

  // The most that the device's copies have in the host's memory at once.
  [[nodiscard]] Bytes peak_host(int device) const;

 private:
  // A change that does not follow the compute lane.
  struct Event {
    Nanoseconds at = 0;
    Bytes change = 0;
    MemoryCategory category = MemoryCategory::kReceived;
    Gate cause;
  };

  void find_recomputed();
  void add_residents();
  void add_arrivals();
  void add_copies();
  void begin(const Op& op, BytesByCategory& bytes) const;
  void end(const Op& op, BytesByCategory& bytes) const;
  [[nodiscard]] Bytes part(Bytes value, const Op& op) const {
    return shares_.part(value, shares_.class_of(op.microbatch));
  }
  [[nodiscard]] const StageCost& cost_of(const Op& op) const {
    return costs_.stages[static_cast<std::size_t>(op.stage)];
  }
  [[nodiscard]] bool is_recomputed(const Op& op) const;

  const Timeline& timeline_;
  const Schedule& schedule_;
  const StageCosts& costs_;
  std::vector<BytesByCategory> resident_;  // by device
  PieceShares shares_;
  std::vector<bool> recomputed_;            // by (stage, piece); empty: none is
  std::vector<std::vector<Event>> events_;  // by device, in order
  std::vector<std::vector<Event>> hosts_;   // by device whose activations the host keeps, in order
  std::vector<Bytes> received_;             // by span: bytes of its inputs from other devices
};

[[nodiscard]] Bytes total(const BytesByCategory& bytes);

}  // namespace debubble
