// What the schedules of this folder share: the costs that the cost-aware ones plan for, and the V's two chunks.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "schedules/common/contract.hpp"
#include "schedules/common/list_timing.hpp"

namespace debubble {

// The request's costs, or where it has none: forward, input and weight gradient of all stages alike, no latency, every
// activation kept whole until W. Throws InputError (L007) where times or memory would not add up in 64 bits.
[[nodiscard]] PlanningCosts planning_costs_of(const ScheduleRequest& request, int stages, int chunks);

// From stage s to s+1 and back; 0 between stages of one device.
[[nodiscard]] Nanoseconds hop_after(const PlanningCosts& costs, const Placement& placement, int stage);

// The rows of that plan whose step is the shortest by the engine, under the costs' rule for transfers; of equal ones,
// and where none runs, of the first. `plans`: one at least, in which the shortest comes first where transfers overlap.
// set_rows(plan) gives the schedule its rows.
template <typename Plan, typename SetRows>
void set_shortest_rows(const std::vector<Plan>& plans, const SetRows& set_rows, const PlanningCosts& costs,
                       const Schedule& schedule) {
  const Plan* best = &plans.front();
  std::optional<Nanoseconds> least;
  for (const Plan& plan : plans) {
    if (costs.p2p == P2p::kOverlapped) break;
    set_rows(plan);
    const std::optional<OrderRun> run = planned_run(schedule, costs);
    if (!run || (least && run->makespan >= *least)) continue;
    least = run->makespan;
    best = &plan;
  }
  set_rows(*best);
}

// Refuses anything but two stages per device.
void require_two_chunks(const ScheduleRequest& request, std::string_view schedule);

}  // namespace debubble
