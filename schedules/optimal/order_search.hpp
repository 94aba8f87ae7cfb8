// The search of the schedule `optimal`: from the best start and from a list scheduler's order, window by window, then
// from orders near the best one, until it meets the lower bound or has used its budget. A problem that is small enough
// is searched whole, too.
#pragma once

#include <string>
#include <vector>

#include "schedules/optimal/order_bounds.hpp"
#include "schedules/optimal/order_budget.hpp"
#include "schedules/optimal/order_starts.hpp"

namespace debubble {

struct OrderPlan {
  Orders orders;
  Nanoseconds cost = 0;
  Nanoseconds start_cost = 0;
  std::string start;       // the row that it started from
  OrderBound bound;        // at most the cost
  bool exhausted = false;  // every order that might cost less has been excluded: then the cost is the bound
  [[nodiscard]] bool proven() const { return exhausted || bound.cost >= cost; }
};

// `starts` must hold at least one order that does not deadlock.
[[nodiscard]] OrderPlan search_orders(const OrderProblem& problem, const std::vector<OrderStart>& starts,
                                      OrderBudget& budget);

}  // namespace debubble
