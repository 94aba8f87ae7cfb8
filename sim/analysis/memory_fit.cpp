#include "sim/analysis/memory_fit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/analysis/allocator.hpp"
#include "sim/analysis/memory.hpp"
#include "sim/core/at.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble {
namespace {

// One device's things, each in the blocks that a CachingAllocator gives it.
class AllocatedMemory {
 public:
  AllocatedMemory(const StageCosts& costs, Bytes capacity, bool expandable)
      : costs_(costs), allocator_(capacity, expandable) {}

  // False where there is no room.
  bool change(const HeldThing& thing, Bytes bytes) {
    if (bytes > 0) return take(thing, bytes);
    const auto found = held_.find(thing);
    if (found == held_.end()) return true;
    for (const CachingAllocator::Block block : found->second) allocator_.free(block);
    found->second.clear();
    unused_.push_back(held_.extract(found));
    return true;
  }

  bool take_resident(Bytes bytes) { return bytes == 0 || allocator_.allocate(bytes).has_value(); }

  [[nodiscard]] Bytes reserved() const { return allocator_.reserved(); }

 private:
  using Held = std::map<HeldThing, std::vector<CachingAllocator::Block>>;

  [[nodiscard]] std::int32_t tensors(const HeldThing& thing) const {
    if (thing.what != HeldThing::What::kActivation && thing.what != HeldThing::What::kKept) return 1;
    return std::max(1, costs_.stages[to_index(thing.stage)].activation_tensors);
  }

  // Things come and go by the thousand: entries are used again, with the memory of their lists.
  std::vector<CachingAllocator::Block>& blocks_of(const HeldThing& thing) {
    if (unused_.empty()) return held_[thing];
    Held::node_type entry = std::move(unused_.back());
    unused_.pop_back();
    entry.key() = thing;
    auto inserted = held_.insert(std::move(entry));
    if (!inserted.inserted) unused_.push_back(std::move(inserted.node));
    return inserted.position->second;
  }

  bool take(const HeldThing& thing, Bytes bytes) {
    const std::int32_t count = tensors(thing);
    std::vector<CachingAllocator::Block>& blocks = blocks_of(thing);
    for (std::int32_t k = 0; k < count; ++k) {
      const Bytes part = bytes / count + (k < bytes % count ? 1 : 0);
      if (part == 0) continue;
      const auto block = allocator_.allocate(part);
      if (!block) return false;
      blocks.push_back(*block);
    }
    return true;
  }

  const StageCosts& costs_;
  CachingAllocator allocator_;
  Held held_;
  std::vector<Held::node_type> unused_;
};

// Without an allocator: levels only.
class Level {
 public:
  // 0: without end.
  explicit Level(Bytes capacity) : capacity_(capacity) {}
  bool change(const HeldThing&, Bytes bytes) { return take_resident(bytes); }
  bool take_resident(Bytes bytes) {
    level_ += bytes;
    return capacity_ == 0 || level_ <= capacity_;
  }
  [[nodiscard]] Bytes reserved() const { return level_; }

 private:
  Bytes capacity_;
  Bytes level_ = 0;
};

// Fills at, op, reserved, and where it does not fit, missing; false then.
template <typename Memory>
bool replay_memory(const MemoryWalk& walk, const Timeline& timeline, int device, Memory memory, DeviceMemory& result) {
  result.reserved = 0;
  result.at = 0;
  result.op = {};
  for (const Bytes bytes : walk.resident(device)) {
    if (memory.take_resident(bytes)) continue;
    result.missing = bytes;
    return false;
  }
  result.reserved = memory.reserved();
  bool fits = true;
  walk.run_changes(device, [&](Nanoseconds at, const HeldThing& thing, Bytes change, const Gate& cause) {
    if (!fits) return;
    fits = memory.change(thing, change);
    if (fits && memory.reserved() <= result.reserved) return;
    result.at = at;
    result.op = peak_op(cause, timeline);
    result.reserved = std::max(result.reserved, memory.reserved());
    if (!fits) result.missing = change;
  });
  return fits;
}

// How much is missing where it does not fit takes another replay, without an end: only `in_full`.
template <typename MakeMemory>
void measure_device(const MemoryWalk& walk, const Timeline& timeline, int device, const MakeMemory& memory,
                    bool in_full, DeviceMemory& result) {
  result.fits = replay_memory(walk, timeline, device, memory(result.capacity), result);
  if (result.fits || !in_full) return;
  DeviceMemory without_end;
  if (!replay_memory(walk, timeline, device, memory(0), without_end))
    throw std::logic_error("memory without end is full");
  result.reserved = without_end.reserved;
}

// The devices of one run, each by itself.
class DeviceMemories {
 public:
  DeviceMemories(const Timeline& timeline, const Schedule& schedule, const StageCosts& costs,
                 const std::vector<Bytes>& capacities, AllocatorKind kind)
      : timeline_(timeline), costs_(costs), capacities_(capacities), kind_(kind), walk_(timeline, schedule, costs) {}

  // Its capacity, and the most that is allocated at once.
  [[nodiscard]] DeviceMemory allocated(int device) const {
    DeviceMemory result;
    result.capacity = capacities_.size() == 1 ? capacities_.front() : capacities_.at(to_index(device));
    result.allocated = total(walk_.resident(device));
    walk_.run(device, [&](Nanoseconds, const BytesByCategory& bytes, const Gate&) {
      result.allocated = std::max(result.allocated, total(bytes));
    });
    return result;
  }

  // Whether what the allocator takes for it fits, and how much that is: where it does not, only `in_full`.
  void reserve(int device, bool in_full, DeviceMemory& result) const {
    if (kind_ == AllocatorKind::kExact) {
      measure_device(
          walk_, timeline_, device, [](Bytes capacity) { return Level(capacity); }, in_full, result);
    } else {
      const bool expandable = kind_ == AllocatorKind::kExpandable;
      measure_device(
          walk_, timeline_, device, [&](Bytes capacity) { return AllocatedMemory(costs_, capacity, expandable); },
          in_full, result);
    }
  }

  [[nodiscard]] DeviceMemory measured(int device) const {
    DeviceMemory result = allocated(device);
    reserve(device, true, result);
    return result;
  }

  [[nodiscard]] std::vector<DeviceMemory> all_allocated() const {
    std::vector<DeviceMemory> devices;
    for (int device = 0; device < timeline_.devices; ++device) devices.push_back(allocated(device));
    return devices;
  }

  // Those with the least room first. False at the first that does not fit.
  bool reserve_fullest_first(std::vector<DeviceMemory>& devices) const {
    std::vector<int> order(devices.size());
    std::iota(order.begin(), order.end(), 0);
    const auto room = [&](int device) { return at(devices, device).capacity - at(devices, device).allocated; };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return room(a) < room(b); });
    for (const int device : order) {
      reserve(device, false, at(devices, device));
      if (!at(devices, device).fits) return false;
    }
    return true;
  }

 private:
  const Timeline& timeline_;
  const StageCosts& costs_;
  const std::vector<Bytes>& capacities_;
  AllocatorKind kind_;
  MemoryWalk walk_;
};

}  // namespace

std::vector<DeviceMemory> device_memories(const Timeline& timeline, const Schedule& schedule, const StageCosts& costs,
                                          const std::vector<Bytes>& capacities, AllocatorKind kind) {
  const DeviceMemories memories(timeline, schedule, costs, capacities, kind);
  std::vector<DeviceMemory> devices;
  for (int device = 0; device < timeline.devices; ++device) devices.push_back(memories.measured(device));
  return devices;
}

std::optional<MemoryFit> memory_fit_if_any(const Timeline& timeline, const Schedule& schedule, const StageCosts& costs,
                                           const std::vector<Bytes>& capacities, AllocatorKind kind) {
  const DeviceMemories memories(timeline, schedule, costs, capacities, kind);
  std::vector<DeviceMemory> devices = memories.all_allocated();
  const auto too_full = [](const DeviceMemory& one) { return one.capacity > 0 && one.allocated > one.capacity; };
  if (std::any_of(devices.begin(), devices.end(), too_full)) return std::nullopt;  // an allocator takes no less
  if (!memories.reserve_fullest_first(devices)) return std::nullopt;
  return memory_fit(devices);
}

MemoryFit memory_fit(const std::vector<DeviceMemory>& devices) {
  const auto worse = [](const DeviceMemory& a, const DeviceMemory& b) {
    return a.fits == b.fits ? a.spare() < b.spare() : !a.fits;
  };
  const auto worst = std::min_element(devices.begin(), devices.end(), worse);
  MemoryFit fit;
  if (worst == devices.end()) return fit;
  fit.capacity = worst->capacity;
  fit.device = static_cast<int>(worst - devices.begin());
  fit.allocated = worst->allocated;
  fit.reserved = worst->reserved;
  fit.spare = worst->spare();
  fit.at = worst->at;
  fit.op = worst->op;
  return fit;
}

}  // namespace debubble
