// Whether a run fits its devices' memory: every device's walk replayed through a caching allocator.
#pragma once

#include <optional>
#include <vector>

#include "sim/analysis/report.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

enum class AllocatorKind {
  kCaching,    // PyTorch's: rounds, caches, falls to pieces
  kExact,      // none: what is allocated is what is taken
  kExpandable  // PyTorch's with expandable segments
};

// What one device's run takes.
struct DeviceMemory {
  Bytes capacity = 0;   // 0: without end
  Bytes allocated = 0;  // the most at once
  Bytes reserved = 0;   // the most that the allocator took for it; out of memory: that it would have taken
  Nanoseconds at = 0;   // when most was reserved first, or, out of memory, when the first allocation failed
  PeakOp op;            // by which op; empty: before anything ran
  Bytes missing = 0;    // out of memory: what was asked for then
  bool fits = true;

  [[nodiscard]] Bytes spare() const { return capacity - reserved; }
};

// `capacities`: one for all devices, or one each. An activation of a stage that knows its number of tensors
// (StageCost::activation_tensors) is allocated in so many equal ones, everything else in one.
[[nodiscard]] std::vector<DeviceMemory> device_memories(const Timeline& timeline, const Schedule& schedule,
                                                        const StageCosts& costs, const std::vector<Bytes>& capacities,
                                                        AllocatorKind kind);

// The verdict, of the device with the least to spare: where several do not fit, of the one that lacks most.
[[nodiscard]] MemoryFit memory_fit(const std::vector<DeviceMemory>& devices);

// The same where everything fits, nothing where it does not: no more is then found out than that.
[[nodiscard]] std::optional<MemoryFit> memory_fit_if_any(const Timeline& timeline, const Schedule& schedule,
                                                         const StageCosts& costs, const std::vector<Bytes>& capacities,
                                                         AllocatorKind kind);

}  // namespace debubble
