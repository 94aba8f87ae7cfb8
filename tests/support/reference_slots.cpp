#include "tests/support/reference_slots.hpp"

#include <algorithm>
#include <string>

namespace debubble::reference {
namespace {

// A cell's letters without W and R, with I as B: "" for one that exchanges nothing, "F", "B", or more for a pair.
std::string letters(const Cell& cell) {
  std::string text;
  for (const Op& op : cell.members) {
    if (op.kind == OpKind::kWeightGrad || op.kind == OpKind::kRecompute) continue;
    text += op.kind == OpKind::kInputGrad ? 'B' : letter(op.kind);
  }
  return text;
}

const Op& op_of(const Cell& cell) {  // of one with a single letter
  for (const Op& op : cell.members) {
    if (op.kind != OpKind::kWeightGrad && op.kind != OpKind::kRecompute) return op;
  }
  return cell.members.front();
}

bool stages_go_around(const Schedule& schedule) {
  if (schedule.placement.replicas() != 1 || schedule.stages <= schedule.devices) return false;
  for (int s = 0; s < schedule.stages; ++s) {
    if (schedule.placement.device_of(0, s) != s % schedule.devices) return false;
  }
  return true;
}

// All F, B and I of a row, I as B.
std::string course_of(const std::vector<Cell>& cells) {
  std::string course;
  for (const Cell& cell : cells) course += letters(cell);
  return course;
}

bool returns_to_forward(const std::string& course) {
  const std::size_t first_backward = course.find('B');
  return first_backward != std::string::npos && course.find('F', first_backward) != std::string::npos;
}

// A steady phase of one pair at the end of the forwards: the next device begins to alternate two forwards earlier.
bool alternates(const std::vector<std::vector<Cell>>& cells, std::size_t device) {
  const std::string course = course_of(cells[device]);
  if (returns_to_forward(course)) return true;
  if (device + 1 == cells.size()) return false;
  const std::string next = course_of(cells[device + 1]);
  const std::size_t turn = std::min(course.find('B'), course.size());
  return returns_to_forward(next) && next.find('B') + 2 == turn;
}

// From the forward out through other devices and back to the backward: the same microbatch, and not the turning point.
bool feeds_from_afar(const Op& forward, const Op& backward, const Schedule& schedule) {
  const auto microbatch = [&](const Op& op) {
    return schedule.sliced ? op.microbatch / schedule.pieces : op.microbatch;
  };
  if (microbatch(forward) != microbatch(backward) || schedule.devices == 1) return false;
  return forward.stage + 1 < schedule.stages || backward.stage + 1 < schedule.stages;
}

// Cells that belong together: quiet ones with the loud one behind them.
std::vector<std::vector<std::size_t>> groups_of(const std::vector<Cell>& cells) {
  std::vector<std::vector<std::size_t>> groups;
  bool open = false;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (!open) groups.emplace_back();
    groups.back().push_back(c);
    open = letters(cells[c]).empty();
  }
  return groups;
}

std::vector<std::vector<std::size_t>> joined(const std::vector<std::vector<std::size_t>>& groups,
                                             const std::vector<Cell>& cells, const Schedule& schedule) {
  std::vector<std::vector<std::size_t>> slots;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    slots.push_back(groups[g]);
    if (g + 1 == groups.size()) break;
    const Cell& here = cells[groups[g].back()];
    const Cell& next = cells[groups[g + 1].back()];
    if (letters(here) != "F" || letters(next) != "B" || feeds_from_afar(op_of(here), op_of(next), schedule)) continue;
    ++g;
    slots.back().insert(slots.back().end(), groups[g].begin(), groups[g].end());
  }
  return slots;
}

}  // namespace

std::vector<DeviceSlots> slots_of(const Schedule& schedule, const std::vector<std::vector<Cell>>& cells) {
  std::vector<DeviceSlots> all;
  for (std::size_t d = 0; d < cells.size(); ++d) {
    const auto& of_device = cells[d];
    std::vector<std::vector<std::size_t>> slots;
    if (stages_go_around(schedule) && alternates(cells, d)) {
      slots = joined(groups_of(of_device), of_device, schedule);
    } else {
      for (std::size_t c = 0; c < of_device.size(); ++c) slots.push_back({c});
    }
    DeviceSlots& found = all.emplace_back();
    for (std::size_t s = 0; s < slots.size(); ++s) {
      found.slot_of.insert(found.slot_of.end(), slots[s].size(), s);
      found.last.push_back(slots[s].back());
    }
  }
  return all;
}

}  // namespace debubble::reference
