// MemoryReplay: one device's memory as an allocator gives it, change by change. Internal to sim/analysis and to what
// replays runs without their spans.
#pragma once

#include <memory>

#include "sim/analysis/memory.hpp"
#include "sim/analysis/memory_fit.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble {

class MemoryReplay {
 public:
  MemoryReplay() = default;
  MemoryReplay(const MemoryReplay&) = delete;
  MemoryReplay& operator=(const MemoryReplay&) = delete;
  virtual ~MemoryReplay() = default;

  // False where there is no room.
  virtual bool change(const HeldThing& thing, Bytes bytes) = 0;
  virtual bool take_resident(Bytes bytes) = 0;
  [[nodiscard]] virtual Bytes reserved() const = 0;
};

// For long runs, whose changes repeat: with equal results, but not a step of the allocator for each (RecurringMemory).
// `capacity` 0: without end. The costs must stay.
[[nodiscard]] std::unique_ptr<MemoryReplay> make_long_replay(const StageCosts& costs, Bytes capacity,
                                                             AllocatorKind kind);

}  // namespace debubble
