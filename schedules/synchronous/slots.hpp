// The slot rule, by which Chimera, Hanayo and BitPipe place their ops.
//
// Pretend that every op takes one slot, and give each a slot number. A device's row is the ops placed on it, sorted by
// slot; real durations apply only afterwards. Within a unit of the schedule, the k-th microbatch of a way through S
// stages, one every second slot, takes
//
//     F of stage s: 2k + s          B of stage s: 2k + S + (S - 1 - s)          and the next unit starts 2S slots later
//
// No two ops of a device may share a slot: that is what makes the construction a schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/schedule.hpp"

namespace debubble {

class SlotRows {
 public:
  explicit SlotRows(int devices);

  void put(std::int32_t device, std::int64_t slot, const Op& op);

  // All ops of one piece, placed by the schedule's placement and the rule above; its stage 0 starts in slot `first`.
  void put_piece(const Schedule& schedule, int replica, std::int64_t first, std::int32_t piece);

  // The rows; throws std::logic_error when two ops of a device share a slot.
  [[nodiscard]] std::vector<std::vector<Op>> sorted();

 private:
  struct Slotted {
    std::int64_t slot;
    Op op;
  };
  std::vector<std::vector<Slotted>> rows_;
};

}  // namespace debubble
