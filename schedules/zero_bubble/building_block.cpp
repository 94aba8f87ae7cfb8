#include "schedules/zero_bubble/building_block.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "schedules/request.hpp"
#include "schedules/zero_bubble/slot_grid.hpp"
#include "schedules/zero_bubble/slot_memory.hpp"

namespace debubble {

namespace {

using Cell = SlotGrid::Cell;

constexpr int kPeriod = 6;  // a device runs six ops of every microbatch

SlotGrid repeated(int devices, int microbatches, BuildingBlock block) {
  SlotGrid grid(devices, microbatches);
  for (int device = 0; device < devices; ++device) {
    const std::array<int, 4> slots = block(device, devices);
    for (std::int32_t i = 0; i < microbatches; ++i) {
      for (std::size_t leg = 0; leg < slots.size(); ++leg) {
        grid.put(device, slots[leg] + kPeriod * i, {static_cast<Leg>(leg), i});
      }
    }
  }
  return grid;
}

// Moves the ops of warm-up and drain forward in time under the peak that the grid has.
class Compaction {
 public:
  Compaction(SlotGrid grid, bool explicit_weights) : grid_(std::move(grid)), explicit_weights_(explicit_weights) {
    for (int device = 0; device < grid_.devices(); ++device) {
      memory_.emplace_back(grid_, device, explicit_weights);
      cap_ = std::max(cap_, memory_.back().peak());
      input_grads_.emplace_back();
      for (int slot = 0; slot < grid_.length(); ++slot) {
        if (grid_.at(device, slot).is_input_grad()) input_grads_.back().push_back(slot);
      }
    }
  }

  // Ops move to slots that have been visited, so what is still to come stands where it stood at first.
  SlotGrid run() {
    enum class Phase { kWarmup, kSteady, kDrain } phase = Phase::kWarmup;
    for (int slot = 0; slot < grid_.length(); ++slot) {
      for (int device = 0; device < grid_.devices(); ++device) {
        const Cell cell = grid_.at(device, slot);
        if (cell.free()) continue;
        if (phase == Phase::kWarmup && device == 0 && cell.leg == Leg::kBackUp) phase = Phase::kSteady;
        if (phase == Phase::kSteady) {
          if (cell.leg == Leg::kDown && cell.number == grid_.microbatches() - 1) phase = Phase::kDrain;
        } else if (phase == Phase::kDrain || explicit_weights_) {
          move_forward(device, slot, cell);
        }
      }
    }
    return std::move(grid_);
  }

 private:
  void move_forward(int device, int slot, const Cell& cell) {
    int last_needed = grid_.last_needed(device, cell);
    auto& input_grads = input_grads_[static_cast<std::size_t>(device)];
    if (cell.is_weight_grad()) {
      last_needed = std::max(last_needed, input_grads[static_cast<std::size_t>(cell.number)]);
    }
    SlotMemory& memory = memory_[static_cast<std::size_t>(device)];
    const int target = memory.earliest(grid_, slot, last_needed + 1, cap_);
    if (target == slot) return;
    grid_.move(device, slot, target);
    memory.moved(grid_, slot, target);
    if (!cell.is_input_grad()) return;
    const auto from = std::lower_bound(input_grads.begin(), input_grads.end(), slot);
    const auto to = std::lower_bound(input_grads.begin(), from, target);
    *from = target;
    std::rotate(to, from, from + 1);
  }

  SlotGrid grid_;
  bool explicit_weights_;
  std::vector<SlotMemory> memory_;
  std::vector<std::vector<int>> input_grads_;  // by device: their slots, in order
  int cap_ = 0;
};

// The row of a device whose weight gradients are not placed: free slots take them, those of the later stage first.
std::vector<Op> split_row(const SlotGrid& grid, int device) {
  const int early = device;
  const int late = 2 * grid.devices() - 1 - device;
  const std::int32_t m = grid.microbatches();
  std::vector<Op> row;
  row.reserve(6 * static_cast<std::size_t>(m));
  struct Pending {
    int stage;
    std::int32_t due = 0;
    std::int32_t done = 0;
  };
  std::array<Pending, 2> pending{Pending{late}, Pending{early}};
  for (int slot = 0; row.size() < 6 * static_cast<std::size_t>(m); ++slot) {
    const Cell cell = grid.at(device, slot);
    if (cell.free()) {
      for (Pending& each : pending) {
        if (each.done == each.due) continue;
        row.push_back({OpKind::kWeightGrad, false, each.stage, each.done++});
        break;
      }
      continue;
    }
    if (cell.is_input_grad()) ++pending[cell.leg == Leg::kBackDown ? 0 : 1].due;
    const OpKind kind = cell.is_forward() ? OpKind::kForward : OpKind::kInputGrad;
    const bool on_late = cell.leg == Leg::kUp || cell.leg == Leg::kBackDown;
    row.push_back({kind, false, on_late ? late : early, cell.number});
  }
  return row;
}

}  // namespace

Schedule build_from_block(const ScheduleRequest& request, const std::string& name, BuildingBlock block) {
  const int p = request.devices;
  if (p < 2) refuse("S017", "--devices", name + " needs at least 2 devices", "use -p 2 or more");
  if (request.chunks != 0 && request.chunks != 2) {
    refuse("S005", "--chunks", name + " has exactly 2 stages per device; got " + std::to_string(request.chunks),
           "leave --chunks out, or use -v 2");
  }
  SlotGrid grid = with_weight_grads(repeated(p, request.microbatches, block));
  grid = squeezed_without_weight_grads(Compaction(std::move(grid), true).run());
  grid = squeezed_without_weight_grads(with_weight_grads(Compaction(std::move(grid), false).run()));

  Schedule schedule = start_schedule(request, name, 2);
  schedule.placement = zigzag_placement(p, 2 * p);
  for (int device = 0; device < p; ++device) schedule.rows[static_cast<std::size_t>(device)] = split_row(grid, device);
  return schedule;
}

}  // namespace debubble
