#include "schedules/zero_bubble/zb_auto.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "schedules/common/memory_limit.hpp"
#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/planning.hpp"
#include "schedules/zero_bubble/zb_auto_search.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

std::vector<AutoStage> stages_of(const PlanningCosts& costs, const Placement& placement, const MemoryLimit& limit) {
  std::vector<AutoStage> stages;
  const std::size_t count = costs.costs.stages.size();
  for (std::size_t s = 0; s < count; ++s) {
    const StageCost& cost = costs.costs.stages[s];
    AutoStage stage;
    stage.forward = cost.forward;
    stage.input_grad = cost.input_grad;
    stage.weight_grad = cost.weight_grad;
    stage.hop = s + 1 < count ? hop_after(costs, placement, static_cast<int>(s)) : 0;
    stage.activation = cost.activation;
    stage.held = cost.weight_grad_held;
    stage.limit = limit.activations[s];
    stages.push_back(stage);
  }
  return stages;
}

// One microbatch must fit: before I as an activation, after it as what W needs.
void check_auto_limit(const std::vector<AutoStage>& stages, const MemoryLimit& limit, const PlanningCosts& costs) {
  std::vector<Bytes> needed;
  bool fits = true;
  for (const AutoStage& stage : stages) {
    needed.push_back(std::max(stage.activation, stage.held));
    fits = fits && stage.limit >= needed.back();
  }
  if (!fits) refuse_memory_limit("zb-auto", limit, costs, needed);
}

std::vector<Op> row_in_order(const std::vector<OpKind>& order, int stage) {
  std::vector<Op> row;
  row.reserve(order.size());
  std::array<std::int32_t, kOpKinds> next{};
  for (const OpKind kind : order) row.push_back({kind, false, stage, at(next, kind)++});
  return row;
}

Schedule build_zb_auto(const ScheduleRequest& request) {
  require_one_chunk(request, "zb-auto");
  Schedule schedule = start_schedule(request, "zb-auto", 1);
  const PlanningCosts costs = planning_costs_of(request, request.devices, 1);
  const MemoryLimit limit = memory_limit_of(request, costs, "1p");
  const std::vector<AutoStage> stages = stages_of(costs, schedule.placement, limit);
  check_auto_limit(stages, limit, costs);
  schedule.params = {{"memory_limit", limit.text}};
  const auto set_rows = [&](const AutoPlan& plan) {
    for (std::size_t d = 0; d < stages.size(); ++d)
      schedule.rows[d] = row_in_order(plan.orders[d], static_cast<int>(d));
  };
  if (costs.p2p == P2p::kOverlapped) {
    set_rows(search_auto_plan(stages, request.microbatches));
  } else {
    set_shortest_rows(all_auto_plans(stages, request.microbatches), set_rows, costs, schedule);
  }
  return schedule;
}

}  // namespace

const ScheduleEntry& zb_auto_entry() {
  static const ScheduleEntry entry{
      .name = "zb-auto",
      .summary = "zero-bubble order found for given times, hops and memory; ZB-1p, ZB-2p",
      .citation = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv 2401.10241, section 3",
      .constraints = "p >= 1, m >= 1; memory_limit holds one microbatch on every device",
      .needs = "splits the backward",
      .splits_backward = true,
      .default_chunks = 1,
      .params = {{"memory_limit", "4, 1.5p, 8,6,6,4 or 76GiB", "1p",
                  "what activations may take: in activations of a device share, times p, or all memory as a size"}},
      .build = build_zb_auto,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note =
          "the costs of the paper's tables to the microsecond, and every device's peak memory; the search is "
          "greedy: in tiny cases tried against all orders it was mostly optimal, at worst 15 % longer",
      .peak = {.text = "at most memory_limit", .value = nullptr},
      .frameworks = "the authors' fork of Megatron-LM (sail-sg/zero-bubble)",
      .advice =
          "The best one-stage order for a memory budget: the memory of 1f1b gives zb-h1's time, twice that almost "
          "no bubble. Its order holds for the times it was made for; the gain at the iteration's end needs an "
          "optimizer step without a barrier between devices.",
      .uses_costs = true};
  return entry;
}

}  // namespace debubble
