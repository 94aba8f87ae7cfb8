#include "schedules/zero_bubble/slot_grid.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/core/at.hpp"

namespace debubble {

SlotGrid::SlotGrid(int devices, int microbatches)
    : devices_(devices),
      microbatches_(microbatches),
      cells_(static_cast<std::size_t>(devices)),
      slot_(static_cast<std::size_t>(devices),
            std::vector<std::int32_t>(6 * static_cast<std::size_t>(microbatches), -1)) {
  for (auto& row : cells_) row.resize(6 * static_cast<std::size_t>(microbatches + devices + 1));
}

void SlotGrid::put(int device, int slot, const Cell& cell) {
  auto& row = cells_[to_index(device)];
  const auto place = static_cast<std::size_t>(slot);
  if (place >= row.size()) row.resize(2 * place);
  if (!row[place].free()) throw std::logic_error("a building block puts two ops into one slot");
  row[place] = cell;
  slot_[to_index(device)][index(cell.leg, cell.number)] = slot;
  length_ = std::max(length_, slot + 1);
}

void SlotGrid::move(int device, int from, int to) {
  const Cell cell = at(device, from);
  cells_[to_index(device)][to_index(from)] = Cell{};
  put(device, to, cell);
}

int SlotGrid::last_needed(int device, const Cell& cell) const {
  int last = cell.number > 0 ? slot_of(device, cell.leg, cell.number - 1) : -1;
  if (cell.leg == Leg::kWeights) return last;
  if (cell.leg != Leg::kDown) {  // the microbatch's previous visit to this device
    last = std::max(last, slot_of(device, static_cast<Leg>(static_cast<int>(cell.leg) - 1), cell.number));
  }
  const bool downwards = cell.leg == Leg::kDown || cell.leg == Leg::kBackDown;
  const int neighbour = device + (downwards ? -1 : 1);
  if (neighbour < 0 || neighbour >= devices_) return last;
  return std::max(last, slot_of(neighbour, cell.leg, cell.number));
}

SlotGrid with_weight_grads(SlotGrid grid) {
  const std::int32_t total = 2 * grid.microbatches();
  for (int device = 0; device < grid.devices(); ++device) {
    std::int32_t due = 0;
    std::int32_t done = 0;
    for (int slot = 0; done < total; ++slot) {
      const SlotGrid::Cell cell = grid.at(device, slot);
      if (cell.is_input_grad()) ++due;
      if (cell.free() && done < due) grid.put(device, slot, {Leg::kWeights, done++});
    }
  }
  return grid;
}

SlotGrid squeezed_without_weight_grads(const SlotGrid& grid) {
  SlotGrid result(grid.devices(), grid.microbatches());
  std::vector<int> next(static_cast<std::size_t>(grid.devices()), 0);
  for (int slot = 0; slot < grid.length(); ++slot) {
    for (int device = 0; device < grid.devices(); ++device) {
      const SlotGrid::Cell cell = grid.at(device, slot);
      int& free_from = next[to_index(device)];
      if (cell.is_weight_grad()) ++free_from;  // after its input gradient, which comes before it in the row
      if (cell.free() || cell.is_weight_grad()) continue;
      const int target = std::max(free_from, result.last_needed(device, cell) + 1);
      result.put(device, target, cell);
      free_from = target + 1;
    }
  }
  return result;
}

}  // namespace debubble
