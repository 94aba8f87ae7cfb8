// The slot rule, by which Chimera, Hanayo and BitPipe place their ops.
//
// Pretend that every op takes one slot, and give each a slot number. A device's row is the ops placed on it, sorted by
// slot; real durations apply only afterwards. Within a unit of the schedule, the k-th microbatch of a path through S
// stages, one every second slot, takes
//
//     F of stage s: 2k + s          B of stage s: 2k + S + (S - 1 - s)          and the next unit starts 2S slots later
//
// No two ops of a device may share a slot: that is what makes the construction a schedule. A full unit fills 2S slots
// of every device, so what a device runs repeats every 2S slots, and one unit's slots order all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/schedule.hpp"

#include "sim/core/at.hpp"

namespace debubble {

// How many pieces each replica runs in each unit, and their numbers: replica 0's first, over all units.
class SlotUnits {
 public:
  // Full units of `unit` microbatches, an equal share for every replica, then the rest; `order` says which replica gets
  // an odd microbatch first.
  SlotUnits(int microbatches, int unit, int pieces, const std::vector<int>& order);

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int replicas() const { return static_cast<int>(first_.size()) - 1; }
  [[nodiscard]] int full() const { return full_; }  // pieces per replica in a full unit
  // The number of a replica's first piece; that of replicas(): of all pieces.
  [[nodiscard]] std::int32_t first(int replica) const { return at(first_, replica); }
  [[nodiscard]] std::int32_t number(int unit, int replica, int k) const { return first(replica) + unit * full_ + k; }
  [[nodiscard]] int count(int unit, int replica) const {
    return std::clamp(first(replica + 1) - number(unit, replica, 0), 0, full_);
  }
  [[nodiscard]] std::vector<std::int32_t> replica_of() const;

 private:
  int size_;
  int full_;
  std::vector<std::int32_t> first_;
};

// The rows of the schedule's placement by the rule above. Throws std::logic_error when two ops of a device share a
// slot.
[[nodiscard]] std::vector<std::vector<Op>> slot_rows(const Schedule& schedule, const SlotUnits& units);

}  // namespace debubble
