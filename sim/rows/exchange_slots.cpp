#include "sim/rows/exchange_slots.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

bool is_local(const Op& op) { return op.kind == OpKind::kWeightGrad || op.kind == OpKind::kRecompute; }

// Several stages on some device, in a loop.
bool is_interleaved(const Schedule& schedule) {
  const Placement& placement = schedule.placement;
  if (!placement.well_formed() || placement.replicas() != 1 || schedule.devices < 1) return false;
  if (placement.stages() <= schedule.devices) return false;
  for (int stage = 0; stage < placement.stages(); ++stage) {
    if (placement.device_of(0, stage) != stage % schedule.devices) return false;
  }
  return true;
}

// F of a row before and after its first B or I.
struct Forwards {
  std::ptrdiff_t before = 0;
  std::ptrdiff_t behind = 0;
};

Forwards forwards_of(const std::vector<Op>& row) {
  const auto is_forward = [](const Op& op) { return op.kind == OpKind::kForward; };
  const auto backward =
      std::find_if(row.begin(), row.end(), [](const Op& op) { return makes_input_gradient(op.kind); });
  return {std::count_if(row.begin(), backward, is_forward), std::count_if(backward, row.end(), is_forward)};
}

// One cell of a row, as far as slots look at it.
struct SlotCell {
  std::size_t end = 0;  // the position after it
  const Op* forward = nullptr;
  const Op* backward = nullptr;
  bool local = true;   // W and R only
  bool simple = true;  // a single op that sends or receives: F, B or I
};

SlotCell cell_at(const std::vector<Op>& row, std::size_t position) {
  SlotCell cell;
  cell.end = position + (row[position].paired_with_next && position + 1 < row.size() ? 2 : 1);
  int travelling = 0;
  for (std::size_t k = position; k < cell.end; ++k) {
    if (is_local(row[k])) continue;
    cell.local = false;
    ++travelling;
    if (row[k].kind == OpKind::kForward) cell.forward = &row[k];
    if (makes_input_gradient(row[k].kind)) cell.backward = &row[k];
  }
  cell.simple = travelling == 1 && (cell.forward != nullptr || cell.backward != nullptr);
  return cell;
}

// From `position` on, past cells of W and R.
std::size_t skip_local(const std::vector<Op>& row, std::size_t position) {
  while (position < row.size()) {
    const SlotCell cell = cell_at(row, position);
    if (!cell.local) break;
    position = cell.end;
  }
  return position;
}

}  // namespace

ExchangeSlots::ExchangeSlots(const Schedule& schedule, const std::vector<std::vector<Op>>& rows)
    : schedule_(&schedule), rows_(&rows), joins_(rows.size(), false) {
  if (!is_interleaved(schedule)) return;
  Forwards next;
  for (std::size_t device = rows.size(); device-- > 0;) {
    const Forwards here = forwards_of(rows[device]);
    joins_[device] = here.behind > 0 || (next.behind > 0 && here.before == next.before + 2);
    next = here;
  }
}

std::size_t ExchangeSlots::end(std::size_t device, std::size_t position) const {
  const std::vector<Op>& row = (*rows_)[device];
  if (!joins_[device]) return cell_at(row, position).end;
  position = skip_local(row, position);
  if (position == row.size()) return position;
  const SlotCell first = cell_at(row, position);
  if (!first.simple || first.forward == nullptr) return first.end;
  position = skip_local(row, first.end);
  if (position == row.size()) return first.end;
  const SlotCell second = cell_at(row, position);
  const bool joins =
      second.simple && second.backward != nullptr && !needs_by_another_device(*second.backward, *first.forward);
  return joins ? second.end : first.end;
}

// Every B of a microbatch comes after all its F; only those of the last stage do so on one device.
bool ExchangeSlots::needs_by_another_device(const Op& backward, const Op& forward) const {
  const int slices = schedule_->sliced ? std::max(1, schedule_->pieces) : 1;
  if (backward.microbatch / slices != forward.microbatch / slices) return false;
  const int last = schedule_->stages - 1;
  return schedule_->devices > 1 && (forward.stage != last || backward.stage != last);
}

}  // namespace debubble
