// An order and copies to the host, searched for without a solver.
//
//     starts     rows of the catalog, and orders searched for with more memory than there is: what has to leave does
//     bound      what no order of these stages undercuts with any amount of memory, by the search without limits; and
//     bytes x time of all activations, each at home from its F to its gradient or at least while
//                it is made, copied out, copied back and used
//     search     annealing from the best one; small problems by an exact search of all orders and copies
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedules/optimal/copies/copy_tree.hpp"
#include "schedules/optimal/order_bounds.hpp"
#include "schedules/optimal/order_budget.hpp"
#include "schedules/optimal/order_starts.hpp"

namespace debubble {

struct CopiedPlan {
  std::optional<CopiedOrder> order;  // that costs less than what was known; within the limits
  std::string start;                 // the row whose repaired order was the best one to start from; may be empty
  Nanoseconds start_cost = 0;
  OrderBound bound;        // no order with any copies costs less
  bool exhausted = false;  // all of them have been looked at: nothing costs less than the order, or than what is known
};

// `starts`: orders that need not keep the limits. `known`: the best one so far that does, if there is any; it is one of
// this problem where `own`. Deterministic for a budget in nodes.
[[nodiscard]] CopiedPlan search_copied_orders(const OrderProblem& problem, const std::vector<OrderStart>& starts,
                                              const std::optional<CopiedOrder>& known, bool own, OrderBudget& budget);

}  // namespace debubble
