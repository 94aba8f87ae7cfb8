// SlotGrid: a V-shaped schedule while it is being made. Every op takes one slot; a device has at most one op per slot.
//
// Device d of p holds stages d and 2p-1-d. A microbatch visits it four times, in this order: kDown (F of stage d), kUp
// (F of 2p-1-d), kBackDown (I of 2p-1-d), kBackUp (I of d). A weight gradient has no stage yet: it is number n of its
// device and may run after the n-th I of either stage.
//
//     slots   0  1  2  3  4  5       device 0 of p=2 with the pattern 0 3 4 7 of V-Min
//     d0      D0 .  .  U0 I0 .  ..
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/at.hpp"

namespace debubble {

enum class Leg : std::int8_t { kDown, kUp, kBackDown, kBackUp, kWeights };

class SlotGrid {
 public:
  struct Cell {
    Leg leg = Leg::kDown;
    std::int32_t number = -1;  // microbatch, or n of a weight gradient; -1: the slot is free

    [[nodiscard]] bool free() const { return number < 0; }
    [[nodiscard]] bool is_forward() const { return !free() && (leg == Leg::kDown || leg == Leg::kUp); }
    [[nodiscard]] bool is_input_grad() const { return !free() && (leg == Leg::kBackDown || leg == Leg::kBackUp); }
    [[nodiscard]] bool is_weight_grad() const { return !free() && leg == Leg::kWeights; }
  };

  SlotGrid(int devices, int microbatches);

  [[nodiscard]] int devices() const { return devices_; }
  [[nodiscard]] int microbatches() const { return microbatches_; }
  [[nodiscard]] int length() const { return length_; }  // no op is in this slot or a later one
  [[nodiscard]] Cell at(int device, int slot) const {
    const auto& row = cells_[to_index(device)];
    return static_cast<std::size_t>(slot) < row.size() ? row[to_index(slot)] : Cell{};
  }
  // -1 where the grid has no such op.
  [[nodiscard]] int slot_of(int device, Leg leg, std::int32_t number) const {
    return slot_[to_index(device)][index(leg, number)];
  }

  // Throws std::logic_error when the slot is taken: two ops of a pattern must not meet.
  void put(int device, int slot, const Cell& cell);
  void move(int device, int from, int to);

  // The slot before which the op cannot start: the last one of what it needs and of the same leg's previous microbatch,
  // -1 for none. Of a weight gradient: of the one before it only.
  [[nodiscard]] int last_needed(int device, const Cell& cell) const;

 private:
  [[nodiscard]] std::size_t index(Leg leg, std::int32_t number) const {  // legs of one microbatch side by side
    const auto n = static_cast<std::size_t>(number);
    return leg == Leg::kWeights ? 6 * (n / 2) + 4 + n % 2 : 6 * n + static_cast<std::size_t>(leg);
  }

  int devices_;
  int microbatches_;
  int length_ = 0;
  std::vector<std::vector<Cell>> cells_;         // [device][slot]
  std::vector<std::vector<std::int32_t>> slot_;  // [device][leg and number]
};

// Adds the weight gradients of all devices: each free slot takes the oldest that is due, the rest follow at the end.
[[nodiscard]] SlotGrid with_weight_grads(SlotGrid grid);

// Every op as early as what it needs and its device's order allow, one slot each. The slots that weight gradients take
// are free in the result.
[[nodiscard]] SlotGrid squeezed_without_weight_grads(const SlotGrid& grid);

}  // namespace debubble
