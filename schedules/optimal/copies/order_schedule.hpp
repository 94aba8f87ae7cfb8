// From an order to the schedule that the engine runs.
#pragma once

#include <optional>

#include "schedules/common/contract.hpp"
#include "schedules/optimal/order_problem.hpp"
#include "schedules/optimal/program/copy_times.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

// Gives the schedule this placement and these rows and copies, in place of its own.
void write_order(const OrderProblem& problem, const Placement& placement, const Orders& orders,
                 const OrderCopies& copies, Schedule& schedule);

// As OrderTimes::cost, but by the engine, under the costs' rule for transfers. Nothing where it does not run.
[[nodiscard]] std::optional<Nanoseconds> engine_cost(const Schedule& schedule, const OrderProblem& problem,
                                                     const PlanningCosts& costs);

}  // namespace debubble
