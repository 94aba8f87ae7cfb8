#include "sim/core/schedule.hpp"

#include <algorithm>

#include "sim/core/at.hpp"
namespace debubble {

bool holds_before(const Placement& placement, int replica, int stage) {
  for (int earlier = 0; earlier < replica; ++earlier) {
    if (placement.device_of(earlier, stage) == placement.device_of(replica, stage)) return true;
  }
  return false;
}

Placement loop_placement(int devices, int stages) {
  std::vector<std::int32_t> device(static_cast<std::size_t>(stages));
  for (int stage = 0; stage < stages; ++stage) at(device, stage) = stage % devices;
  return {1, stages, std::move(device)};
}

Placement zigzag_placement(int devices, int stages) {
  std::vector<std::int32_t> device(static_cast<std::size_t>(stages));
  for (int stage = 0; stage < stages; ++stage) {
    const int there = stage % (2 * devices);
    at(device, stage) = there < devices ? there : 2 * devices - 1 - there;
  }
  return {1, stages, std::move(device)};
}

std::size_t Schedule::total_ops() const {
  std::size_t total = 0;
  for (const auto& row : rows) total += row.size();
  return total;
}

bool has_weight_grads(const Schedule& schedule) {
  return std::any_of(schedule.rows.begin(), schedule.rows.end(), [](const std::vector<Op>& row) {
    return std::any_of(row.begin(), row.end(), [](const Op& op) { return op.kind == OpKind::kWeightGrad; });
  });
}

}  // namespace debubble
