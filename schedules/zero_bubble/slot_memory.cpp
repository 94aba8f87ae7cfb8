#include "schedules/zero_bubble/slot_memory.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/core/at.hpp"

namespace debubble {

SlotMemory::SlotMemory(const SlotGrid& grid, int device, bool explicit_weights)
    : device_(device), explicit_weights_(explicit_weights) {
  states_.reserve(static_cast<std::size_t>(grid.length()));
  State state;
  for (int slot = 0; slot < grid.length(); ++slot) {
    state = after(state, grid.at(device, slot));
    states_.push_back(state);
  }
}

SlotMemory::State SlotMemory::before(int slot) const {
  return slot == 0 ? State{} : states_[static_cast<std::size_t>(slot) - 1];
}

SlotMemory::State SlotMemory::after(State state, const SlotGrid::Cell& cell) const {
  if (cell.is_forward()) ++state.held;
  if (cell.is_weight_grad()) --state.held;
  if (explicit_weights_) return state;
  if (cell.is_input_grad()) ++state.due;
  if (cell.free() && state.due > 0) {
    --state.due;
    --state.held;
  }
  return state;
}

int SlotMemory::peak() const {
  int peak = 0;
  for (const State& state : states_) peak = std::max(peak, state.held);
  return peak;
}

int SlotMemory::earliest(const SlotGrid& grid, int slot, int first, int cap) const {
  // Between the new slot and the old, a forward adds one. A free slot that was to free an activation no longer does
  // once it is taken; what it leaves over goes to the next free slot that had nothing to free, so up to there one more
  // is held. From the old slot on, which becomes free, no more is held than before.
  const int added = grid.at(device_, slot).is_forward() ? 1 : 0;
  int best = slot;
  int highest = 0;       // held between the candidate and `slot`
  int highest_near = 0;  // held between the candidate and the next free slot that frees nothing
  for (int candidate = slot - 1; candidate >= first; --candidate) {
    const int held = at(states_, candidate).held;
    highest = std::max(highest, held);
    if (highest + added > cap) break;
    const bool free = grid.at(device_, candidate).free();
    if (explicit_weights_) {
      if (free) best = candidate;
      continue;
    }
    if (free && before(candidate).due == 0) {
      best = candidate;
      highest_near = 0;
      continue;
    }
    highest_near = std::max(highest_near, held);
    if (free && highest_near + added + 1 <= cap) best = candidate;
  }
  return best;
}

void SlotMemory::moved(const SlotGrid& grid, int from, int to) {
  if (explicit_weights_) {  // what counts from an earlier slot on
    const SlotGrid::Cell cell = grid.at(device_, to);
    const int more = cell.is_forward() ? 1 : cell.is_weight_grad() ? -1 : 0;
    for (int slot = to; slot < from && more != 0; ++slot) at(states_, slot).held += more;
    return;
  }
  State state = before(to);
  for (int slot = to; slot < static_cast<int>(states_.size()); ++slot) {
    state = after(state, grid.at(device_, slot));
    State& stored = at(states_, slot);
    if (slot >= from && state == stored) return;  // from here on nothing has changed
    stored = state;
  }
}

}  // namespace debubble
