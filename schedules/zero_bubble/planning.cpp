#include "schedules/zero_bubble/planning.hpp"

#include <algorithm>
#include <limits>

#include "schedules/common/request.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

PlanningCosts equal_passes(int stages, int chunks) {
  StageCost stage;
  stage.forward = stage.input_grad = stage.weight_grad = kNanosecondsPerMillisecond;
  stage.backward = stage.input_grad + stage.weight_grad;
  stage.activation = stage.weight_grad_held = piece_of(kMebibyte, chunks);
  PlanningCosts costs;
  costs.costs.stages.assign(static_cast<std::size_t>(stages), stage);
  costs.activation_unit = stage.activation * chunks;
  return costs;
}

// No plan lasts longer than all of its ops and hops in a row, and none holds more than every activation at once.
void check_sums(const PlanningCosts& costs, int microbatches) {
  double time = 0;
  double memory = 0;
  for (const StageCost& stage : costs.costs.stages) {
    time += static_cast<double>(stage.forward) + static_cast<double>(stage.input_grad) +
            static_cast<double>(stage.weight_grad);
    memory += static_cast<double>(stage.activation) + static_cast<double>(stage.weight_grad_held);
  }
  for (const Nanoseconds hop : costs.hops) time += 2 * static_cast<double>(hop);
  constexpr auto kMost = static_cast<double>(std::numeric_limits<std::int64_t>::max() / 4);
  if (std::max(time, memory) * microbatches <= kMost) return;
  fail("L007", "--microbatches", "the times or sizes of all ops together are beyond what can be added up",
       "give smaller times and sizes, or fewer microbatches");
}

}  // namespace

PlanningCosts planning_costs_of(const ScheduleRequest& request, int stages, int chunks) {
  PlanningCosts costs = request.costs != nullptr ? *request.costs : equal_passes(stages, chunks);
  check_sums(costs, request.microbatches);
  return costs;
}

Nanoseconds hop_after(const PlanningCosts& costs, const Placement& placement, int stage) {
  if (costs.hops.empty() || placement.device_of(0, stage) == placement.device_of(0, stage + 1)) return 0;
  return at(costs.hops, stage);
}

void require_two_chunks(const ScheduleRequest& request, std::string_view schedule) {
  if (request.chunks == 0 || request.chunks == 2) return;
  fail("S005", "--chunks",
       std::string(schedule) + " has two stages per device, a V; got " + std::to_string(request.chunks),
       "leave --chunks out, or write -v 2");
}

}  // namespace debubble
