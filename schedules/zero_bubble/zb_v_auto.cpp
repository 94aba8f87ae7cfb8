#include "schedules/zero_bubble/zb_v_auto.hpp"

#include <vector>

#include "schedules/common/memory_limit.hpp"
#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/planning.hpp"
#include "schedules/zero_bubble/zb_v_auto_search.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

VChunk v_chunk(const StageCost& cost) {
  return {cost.forward, cost.input_grad, cost.weight_grad, cost.activation, cost.weight_grad_held};
}

std::vector<VDevice> v_devices(const PlanningCosts& costs, const Placement& placement, const MemoryLimit& limit) {
  std::vector<VDevice> devices;
  const auto p = static_cast<int>(limit.activations.size());
  for (int d = 0; d < p; ++d) {
    const int up = 2 * p - 1 - d;
    VDevice device;
    device.chunks[0] = v_chunk(at(costs.costs.stages, d));
    device.chunks[1] = v_chunk(at(costs.costs.stages, up));
    if (d + 1 < p) {
      device.hops[0] = hop_after(costs, placement, d);
      device.hops[1] = hop_after(costs, placement, up - 1);
    }
    device.limit = at(limit.activations, d);
    devices.push_back(device);
  }
  return devices;
}

void check_v_limit(const std::vector<VDevice>& devices, const MemoryLimit& limit, const PlanningCosts& costs) {
  std::vector<Bytes> needed;
  bool fits = true;
  for (const VDevice& device : devices) {
    needed.push_back(least_memory(device));
    fits = fits && device.limit >= needed.back();
  }
  if (!fits) refuse_memory_limit("zb-v-auto", limit, costs, needed);
}

Schedule build_zb_v_auto(const ScheduleRequest& request) {
  require_two_chunks(request, "zb-v-auto");
  const int p = request.devices;
  Schedule schedule = start_schedule(request, "zb-v-auto", 2);
  schedule.placement = zigzag_placement(p, 2 * p);
  const PlanningCosts costs = planning_costs_of(request, 2 * p, 2);
  const MemoryLimit limit = memory_limit_of(request, costs, "1p");
  const std::vector<VDevice> devices = v_devices(costs, schedule.placement, limit);
  check_v_limit(devices, limit, costs);
  schedule.params = {{"memory_limit", limit.text}};
  const auto set_rows = [&](const VPlan& plan) {
    for (int d = 0; d < p; ++d) {
      auto& row = at(schedule.rows, d);
      row.clear();
      for (const VOp& op : at(plan.orders, d)) {
        row.push_back({op.kind, false, op.chunk == 0 ? d : 2 * p - 1 - d, op.microbatch});
      }
    }
  };
  set_shortest_rows(search_v_plans(devices, request.microbatches), set_rows, costs, schedule);
  return schedule;
}

}  // namespace

const ScheduleEntry& zb_v_auto_entry() {
  static const ScheduleEntry entry{
      .name = "zb-v-auto",
      .summary = "two chunks in a V, order found for given times and memory; takes latency into account",
      .citation = "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241v1, section 6",
      .constraints = "p >= 1, v = 2, m >= 1; memory_limit holds one microbatch on every device",
      .needs = "splits the backward; twice the messages of 1f1b",
      .splits_backward = true,
      .default_chunks = 2,
      .params = {{"memory_limit", "4, 1.5p, 8,6,6,4 or 76GiB", "1p",
                  "what activations may take: in activations of a device share, times p, or all memory as a size"}},
      .build = build_zb_v_auto,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note =
          "the nine costs of the paper's ZB-V table to the microsecond; below 1p and for unequal stages the "
          "walk is extended by us and tested against its limits",
      .peak = {.text = "at most memory_limit", .value = nullptr},
      .frameworks = "ColossalAI (zbv); the authors' fork of Megatron-LM (sail-sg/zero-bubble)",
      .advice =
          "zb-v for unequal passes or slow links: the same memory, an order for the given times. Its chunks are half "
          "a stage, so latency counts twice as often as for zb-auto.",
      .uses_costs = true,
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
