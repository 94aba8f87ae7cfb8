// AllocatedMemory: one device's things, each in the blocks that a CachingAllocator gives it. Internal to sim/analysis.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/analysis/allocator.hpp"
#include "sim/analysis/memory.hpp"
#include "sim/core/at.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble {

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

}  // namespace debubble
