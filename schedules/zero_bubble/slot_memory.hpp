// SlotMemory: how many activations a device of a SlotGrid holds, slot by slot, and where an op may move without holding
// more than a cap.
//
// A forward holds one more. A weight gradient frees one; where the grid has none yet, a free slot frees one that is
// due, as if the weight gradient were there.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/zero_bubble/slot_grid.hpp"

namespace debubble {

class SlotMemory {
 public:
  // `explicit_weights`: whether the grid has its weight gradients.
  SlotMemory(const SlotGrid& grid, int device, bool explicit_weights);

  [[nodiscard]] int peak() const;

  // The first free slot in [first, slot) to which the op in `slot` can move with no more than `cap` held anywhere, or
  // `slot` when there is none. Nothing is above the cap now. Time proportional to slot - first.
  [[nodiscard]] int earliest(const SlotGrid& grid, int slot, int first, int cap) const;

  // To be called after the grid moved an op.
  void moved(const SlotGrid& grid, int from, int to);

 private:
  struct State {
    std::int32_t held = 0;
    std::int32_t due = 0;  // weight gradients that no slot has taken yet; 0 with explicit ones
    friend bool operator==(const State&, const State&) = default;
  };
  [[nodiscard]] State before(int slot) const;
  [[nodiscard]] State after(State state, const SlotGrid::Cell& cell) const;

  int device_;
  bool explicit_weights_;
  std::vector<State> states_;  // at the end of each slot
};

}  // namespace debubble
