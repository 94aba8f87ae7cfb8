// Where a search for an order starts: what the rows of the catalog do with the same pipeline.
#pragma once

#include <string>
#include <vector>

#include "schedules/common/contract.hpp"
#include "schedules/optimal/order_problem.hpp"

namespace debubble {

struct OrderStart {
  std::string name;  // of the catalog's row
  Orders orders;
};

// Every microbatch up the stages and down again before the next one begins: no order needs less memory.
[[nodiscard]] Orders one_at_a_time(const OrderProblem& problem);

// That order, and then every row that has this number of stages on these devices in one replica, moves nothing away and
// keeps the problem's limits, in the catalog's order. Empty where the limits do not hold one microbatch. A whole
// backward is its two parts one after the other where the problem splits it, and the other way round. `memory_limit` is
// what rows that take one are given.
[[nodiscard]] std::vector<OrderStart> starts_of_catalog(const OrderProblem& problem, const Placement& placement,
                                                        const PlanningCosts& costs, const std::string& memory_limit);

}  // namespace debubble
