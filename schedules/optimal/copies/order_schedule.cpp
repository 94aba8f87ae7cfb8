#include "schedules/optimal/copies/order_schedule.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "schedules/common/list_timing.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

void set_order_rows(const OrderProblem& problem, const Orders& orders, Schedule& schedule) {
  std::vector<std::int32_t> next(problem.queues.size(), 0);
  for (std::size_t d = 0; d < orders.size(); ++d) {
    schedule.rows[d].reserve(orders[d].size());
    for (const std::int32_t q : orders[d]) {
      const OrderQueue& queue = at(problem.queues, q);
      schedule.rows[d].push_back({queue.kind, false, queue.stage, at(next, q)++});
    }
  }
}

void set_order_copies(const OrderProblem& problem, const OrderCopies& copies, Schedule& schedule) {
  if (std::all_of(copies.begin(), copies.end(), [](const auto& lane) { return lane.empty(); })) return;
  for (const auto& lane : copies) {
    schedule.copies.emplace_back();
    for (const OrderCopy& copy : lane) {
      const std::int32_t stage = at(problem.queues, copy.forward).stage;
      schedule.copies.back().push_back(
          {copy.back ? Copy::Way::kBack : Copy::Way::kOut, stage, copy.microbatch, -1, copy.after});
    }
  }
}

}  // namespace

void write_order(const OrderProblem& problem, const Placement& placement, const Orders& orders,
                 const OrderCopies& copies, Schedule& schedule) {
  schedule.placement = placement;
  schedule.rows.assign(schedule.rows.size(), {});
  schedule.copies.clear();
  set_order_rows(problem, orders, schedule);
  set_order_copies(problem, copies, schedule);
}

std::optional<Nanoseconds> engine_cost(const Schedule& schedule, const OrderProblem& problem,
                                       const PlanningCosts& costs) {
  const std::optional<OrderRun> run = planned_run(schedule, costs);
  if (!run) return std::nullopt;
  Nanoseconds cost = std::numeric_limits<Nanoseconds>::min();
  for (std::size_t d = 0; d < run->last_ends.size(); ++d) {
    cost = std::max(cost, run->last_ends[d] - problem.offsets[d]);
  }
  return cost;
}

}  // namespace debubble
