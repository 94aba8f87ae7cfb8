// Small random pipelines with copies to the host, and the best of all orders and all plans of copies, enumerated.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "schedules/optimal/order_problem.hpp"
#include "schedules/optimal/program/copy_times.hpp"
#include "tests/support/random_case.hpp"

namespace debubble::testing {

struct CopiedCase {
  PlanningCosts costs;
  Placement placement;
  int microbatches = 1;
  std::vector<Bytes> limits;

  [[nodiscard]] OrderProblem problem(bool split, OrderGoal goal) const {
    return order_problem(costs, placement, microbatches, limits, split, goal);
  }
};

// Unequal stages; limits from one microbatch to all of them.
[[nodiscard]] CopiedCase copied_case(Dice& dice, int devices, int microbatches, int chunks);

// One stage per device, with ways that leave time for copies, and too little memory on device 0. Where there would be
// too many plans to enumerate, only one device makes any.
[[nodiscard]] CopiedCase tight_copied_case(Dice& dice, int devices, int microbatches);

// The least cost, or the largest number where nothing fits. In plain loops; shares nothing with any search but the
// clock.
[[nodiscard]] Nanoseconds best_of_every_plan(const OrderProblem& problem);

}  // namespace debubble::testing
