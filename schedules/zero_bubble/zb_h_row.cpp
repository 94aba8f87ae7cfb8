#include "schedules/zero_bubble/zb_h_row.hpp"

#include <algorithm>
#include <cstdint>

namespace debubble {

std::vector<Op> zb_h_row(int lead, int device, int devices, int microbatches) {
  std::vector<Op> row;
  row.reserve(3 * static_cast<std::size_t>(microbatches));
  const std::int64_t delay = std::int64_t{lead} * device;
  const auto warmup =
      static_cast<int>(std::min<std::int64_t>(std::int64_t{lead} * (devices - 1 - device), microbatches));
  int next_weight_grad = 0;
  for (int i = 0; i < warmup; ++i) row.push_back({OpKind::kForward, false, device, i});
  for (int i = 0; i < microbatches; ++i) {
    if (warmup + i < microbatches) row.push_back({OpKind::kForward, false, device, warmup + i});
    row.push_back({OpKind::kInputGrad, false, device, i});
    if (i >= delay) row.push_back({OpKind::kWeightGrad, false, device, next_weight_grad++});
  }
  while (next_weight_grad < microbatches) row.push_back({OpKind::kWeightGrad, false, device, next_weight_grad++});
  return row;
}

}  // namespace debubble
