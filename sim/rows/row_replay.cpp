#include "sim/rows/row_replay.hpp"

namespace debubble {

std::optional<Deadlock> RowReplay::deadlock() const {
  std::int32_t device = 0;
  while (device < ops_.rows() && ended(device)) ++device;
  if (device == ops_.rows()) return std::nullopt;
  std::vector<bool> seen(rows_.size(), false);
  for (; !seen[at(device)]; device = waits_on(device)) seen[at(device)] = true;
  return cycle_through(device);
}

bool RowReplay::can_start(Row& row, std::int32_t cell_end) const {
  for (std::int32_t member = row.next; member < cell_end; ++member) {
    const Op& op = ops_.op(member);
    for (const std::int32_t input : ops_.inputs(op)) {
      if (!has(row, cell_end, member, input)) return false;
    }
    if (!ops_.gathers(op)) continue;
    for (const std::int32_t input : ops_.gathered(op)) {
      if (!has(row, cell_end, member, input)) return false;
    }
  }
  return true;
}

bool RowReplay::has(Row& row, std::int32_t cell_end, std::int32_t member, std::int32_t input) const {
  if (done_[at(input)] || (input >= row.next && input < cell_end)) return true;
  row.blocked = member;
  row.needed = input;
  return false;
}

void RowReplay::finish(std::int32_t id) {
  done_[at(id)] = true;
  for (std::int32_t device = waiter_[at(id)]; device >= 0; device = rows_[at(device)].next_waiter) {
    runnable_.push_back(device);
  }
}

Deadlock RowReplay::cycle_through(std::int32_t device) const {
  Deadlock deadlock;
  const std::int32_t begin = device;
  do {
    const Row& row = rows_[at(device)];
    deadlock.cycle.push_back({device, ops_.position(row.blocked), ops_.op(row.blocked), ops_.op(row.needed)});
    device = waits_on(device);
  } while (device != begin);
  const auto lowest = std::min_element(deadlock.cycle.begin(), deadlock.cycle.end(),
                                       [](const auto& a, const auto& b) { return a.device < b.device; });
  std::rotate(deadlock.cycle.begin(), lowest, deadlock.cycle.end());
  return deadlock;
}

}  // namespace debubble
