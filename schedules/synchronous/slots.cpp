#include "schedules/synchronous/slots.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace debubble {

SlotRows::SlotRows(int devices) : rows_(static_cast<std::size_t>(devices)) {}

void SlotRows::put(std::int32_t device, std::int64_t slot, const Op& op) {
  rows_[static_cast<std::size_t>(device)].push_back({slot, op});
}

void SlotRows::put_piece(const Schedule& schedule, int replica, std::int64_t first, std::int32_t piece) {
  const int stages = schedule.stages;
  for (int s = 0; s < stages; ++s) {
    const std::int32_t device = schedule.placement.device_of(replica, s);
    put(device, first + s, {OpKind::kForward, false, s, piece});
    put(device, first + 2 * std::int64_t{stages} - 1 - s, {OpKind::kBackward, false, s, piece});
  }
}

std::vector<std::vector<Op>> SlotRows::sorted() {
  std::vector<std::vector<Op>> rows(rows_.size());
  for (std::size_t device = 0; device < rows_.size(); ++device) {
    auto& row = rows_[device];
    std::sort(row.begin(), row.end(), [](const Slotted& a, const Slotted& b) { return a.slot < b.slot; });
    rows[device].reserve(row.size());
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k > 0 && row[k].slot == row[k - 1].slot) throw std::logic_error("two ops of a device share a slot");
      rows[device].push_back(row[k].op);
    }
  }
  return rows;
}

}  // namespace debubble
