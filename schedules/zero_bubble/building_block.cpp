#include "schedules/zero_bubble/building_block.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/slot_grid.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

// How many activations a device of a SlotGrid holds, slot by slot, and where an op may move without holding more than a
// cap. A forward holds one more. A weight gradient frees one; where the grid has none yet, a free slot frees one that
// is due, as if the weight gradient were there.
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

using BlockCell = SlotGrid::Cell;

constexpr int kPeriod = 6;  // a device runs six ops of every microbatch

SlotGrid repeated_block(int devices, int microbatches, BuildingBlock block) {
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
      cap_ = std::max(cap_, memory_.back().peak());  // moving ops forward must not raise the largest peak
      if (!explicit_weights) continue;
      input_grads_.emplace_back();
      for (int slot = 0; slot < grid_.length(); ++slot) {
        if (grid_.at(device, slot).is_input_grad()) input_grads_.back().push_back(slot);
      }
    }
  }

  // Ops move to slots that have been visited, so what is still to come is where it was at first. The warm-up ends
  // with device 0's last op of the first microbatch; the drain begins after the next F of the last one that enters a
  // device.
  SlotGrid run() {
    const int steady = grid_.slot_of(0, Leg::kBackUp, 0);
    if (explicit_weights_) {
      for (int slot = 0; slot < steady; ++slot) move_all(slot, 0);
    }
    const std::int32_t last = grid_.microbatches() - 1;
    int device = 0;
    while (device < grid_.devices() && grid_.slot_of(device, Leg::kDown, last) < steady) ++device;
    if (device == grid_.devices()) return std::move(grid_);
    const int drain = grid_.slot_of(device, Leg::kDown, last);
    move_all(drain, device + 1);
    for (int slot = drain + 1; slot < grid_.length(); ++slot) move_all(slot, 0);
    return std::move(grid_);
  }

 private:
  void move_all(int slot, int first_device) {
    for (int device = first_device; device < grid_.devices(); ++device) {
      const BlockCell cell = grid_.at(device, slot);
      if (!cell.free()) move_forward(device, slot, cell);
    }
  }

  void move_forward(int device, int slot, const BlockCell& cell) {
    int last_needed = grid_.last_needed(device, cell);
    if (cell.is_weight_grad()) {
      const auto& input_grads = at(input_grads_, device);
      last_needed = std::max(last_needed, at(input_grads, cell.number));
    }
    SlotMemory& memory = at(memory_, device);
    const int target = memory.earliest(grid_, slot, last_needed + 1, cap_);
    if (target == slot) return;
    grid_.move(device, slot, target);
    memory.moved(grid_, slot, target);
    if (!explicit_weights_ || !cell.is_input_grad()) return;
    auto& input_grads = at(input_grads_, device);
    const auto from = std::lower_bound(input_grads.begin(), input_grads.end(), slot);
    const auto to = std::lower_bound(input_grads.begin(), from, target);
    *from = target;
    std::rotate(to, from, from + 1);
  }

  SlotGrid grid_;
  bool explicit_weights_;
  std::vector<SlotMemory> memory_;
  std::vector<std::vector<int>> input_grads_;  // by device: their slots, in order; for explicit weight gradients
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
    int stage = 0;
    std::int32_t due = 0;
    std::int32_t done = 0;
  };
  std::array<Pending, 2> pending{Pending{late}, Pending{early}};
  for (int slot = 0; row.size() < 6 * static_cast<std::size_t>(m); ++slot) {
    const BlockCell cell = grid.at(device, slot);
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

struct Grown {
  SlotGrid grid;    // without weight gradients
  int settled = 0;  // the first microbatch with whose entry every step of the construction had settled
};

// The slot of the building blocks from which on, until the last microbatch enters, every op is one period after
// the same op of the microbatch before.
int settled_slot(const SlotGrid& grid, BuildingBlock block) {
  const int drain = kPeriod * (grid.microbatches() - 1);
  int settled = 0;
  for (int device = 0; device < grid.devices(); ++device) {
    const std::array<int, 4> slots = block(device, grid.devices());
    for (std::size_t leg = 0; leg < slots.size(); ++leg) {
      const int entered = std::max(0, (drain - slots[leg] + kPeriod - 1) / kPeriod);  // microbatches before the drain
      for (std::int32_t i = entered - 1; i > 0; --i) {
        const int step =
            grid.slot_of(device, static_cast<Leg>(leg), i) - grid.slot_of(device, static_cast<Leg>(leg), i - 1);
        if (step == kPeriod) continue;
        settled = std::max(settled, slots[leg] + kPeriod * (i - 1) + 1);
        break;
      }
    }
  }
  return settled;
}

// The construction of the paper: repeat the building block, move the ops of warm-up and drain forward under its peak,
// squeeze. Done twice: first with the weight gradients in their slots, so that warm-up and drain are moved; then
// without them, when free slots count as theirs, so that the drain is moved again and they fit in around it.
Grown grow(int devices, int microbatches, BuildingBlock block) {
  SlotGrid grid = with_weight_grads(repeated_block(devices, microbatches, block));
  grid = squeezed_without_weight_grads(Compaction(std::move(grid), true).run());
  int settled = std::max(block(0, devices)[3], settled_slot(grid, block));
  grid = squeezed_without_weight_grads(with_weight_grads(Compaction(std::move(grid), false).run()));
  settled = std::max(settled, settled_slot(grid, block));
  return {std::move(grid), (settled + kPeriod - 1) / kPeriod};
}

Op later(Op op, std::int32_t microbatches) {
  op.microbatch += microbatches;
  return op;
}

// Adds `more` microbatches to a device's row, whose period begins with F number `from` of stage `device`. False where
// the row does not repeat there.
bool stretch(std::vector<Op>& row, int device, std::int32_t from, std::int32_t more) {
  const auto begin = std::find(row.begin(), row.end(), Op{OpKind::kForward, false, device, from});
  if (row.end() - begin < std::ptrdiff_t{2} * kPeriod) return false;
  for (auto op = begin; op != begin + kPeriod; ++op) {
    if (later(*op, 1) != op[kPeriod]) return false;
  }
  std::vector<Op> longer;
  longer.reserve(row.size() + kPeriod * static_cast<std::size_t>(more));
  longer.assign(row.begin(), begin);
  for (std::int32_t k = 0; k < more; ++k) {
    for (auto op = begin; op != begin + kPeriod; ++op) longer.push_back(later(*op, k));
  }
  for (auto op = begin; op != row.end(); ++op) longer.push_back(later(*op, more));
  row = std::move(longer);
  return true;
}

std::vector<std::vector<Op>> split_rows(const SlotGrid& grid) {
  std::vector<std::vector<Op>> rows;
  for (int device = 0; device < grid.devices(); ++device) rows.push_back(split_row(grid, device));
  return rows;
}

// Every step goes through the slots once and looks back no further than from one op of a microbatch on a device to the
// next one: half a life. Once its result repeats for as long, it goes on repeating until the drain. So few microbatches
// show what many would do.
std::vector<std::vector<Op>> pattern_rows(int devices, int microbatches, BuildingBlock block) {
  const int life = block(0, devices)[3] / kPeriod + 1;
  const int seen = life / 2 + 3;  // periods that must repeat
  for (int few = life + seen + 2; few < microbatches; few *= 2) {
    const Grown grown = grow(devices, few, block);
    if (grown.settled + seen >= few) continue;
    std::vector<std::vector<Op>> rows = split_rows(grown.grid);
    bool known = true;
    for (int device = 0; device < devices && known; ++device) {
      known = stretch(at(rows, device), device, grown.settled, microbatches - few);
    }
    if (known) return rows;
  }
  return split_rows(grow(devices, microbatches, block).grid);
}

}  // namespace

Schedule build_from_block(const ScheduleRequest& request, const std::string& name, BuildingBlock block) {
  const int p = request.devices;
  if (p < 2) fail("S011", "--devices", name + " needs at least 2 devices", "use -p 2 or more");
  if (request.chunks != 0 && request.chunks != 2) {
    fail("S005", "--chunks", name + " has exactly 2 stages per device; got " + std::to_string(request.chunks),
         "leave --chunks out, or use -v 2");
  }
  Schedule schedule = start_schedule(request, name, 2);
  schedule.placement = zigzag_placement(p, 2 * p);
  schedule.rows = pattern_rows(p, request.microbatches, block);
  return schedule;
}

}  // namespace debubble
