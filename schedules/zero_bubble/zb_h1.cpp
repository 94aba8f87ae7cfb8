#include "schedules/zero_bubble/zb_h1.hpp"

#include <algorithm>

#include "schedules/request.hpp"

namespace debubble {

namespace {

std::vector<Op> zb_h1_row(int device, int devices, int m) {
  std::vector<Op> row;
  row.reserve(3 * static_cast<std::size_t>(m));
  const int warmup = std::min(devices - 1 - device, m);
  int next_weight_grad = 0;
  for (int i = 0; i < warmup; ++i) row.push_back({OpKind::kForward, false, device, i});
  for (int i = 0; i < m; ++i) {
    if (warmup + i < m) row.push_back({OpKind::kForward, false, device, warmup + i});
    row.push_back({OpKind::kInputGrad, false, device, i});
    if (warmup + i >= devices - 1) row.push_back({OpKind::kWeightGrad, false, device, next_weight_grad++});
  }
  while (next_weight_grad < m) row.push_back({OpKind::kWeightGrad, false, device, next_weight_grad++});
  return row;
}

Schedule build_zb_h1(const ScheduleRequest& request) {
  require_one_chunk(request, "zb-h1");
  Schedule schedule = start_schedule(request, "zb-h1", 1);
  for (int device = 0; device < request.devices; ++device) {
    schedule.rows[static_cast<std::size_t>(device)] = zb_h1_row(device, request.devices, request.microbatches);
  }
  return schedule;
}

}  // namespace

const ScheduleEntry& zb_h1_entry() {
  static const ScheduleEntry entry{
      .name = "zb-h1",
      .summary = "1f1b with a split backward; weight gradients fill the tail at 1f1b's peak memory",
      .citation = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv 2401.10241",
      .constraints = "p >= 1, m >= 1",
      .needs = "splits the backward",
      .splits_backward = true,
      .default_chunks = 1,
      .params = {},
      .build = build_zb_h1};
  return entry;
}

}  // namespace debubble
