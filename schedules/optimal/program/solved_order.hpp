// An order, and copies to the host, found by a MILP solver: OptPipe's way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/optimal/order_search.hpp"
#include "schedules/optimal/program/copy_times.hpp"

namespace debubble {

struct SolverChoice {
  bool copies = false;  // activations may go to the host; else the same problem as search_orders has
  // Whether the program knows our bounds and the best start: without them it stands on its own.
  bool aided = true;
};

struct SolvedOrder {
  OrderPlan plan;
  OrderCopies copies;      // by device; empty where `copies` was not asked for
  std::int64_t nodes = 0;  // of the solver
  std::string solver;      // "CBC 2.10.8: 123 columns, 45 rows"; empty where the bound made it superfluous
};

// A node of the solver is charged as 500 of our search's. Throws UnavailableError U064 where there is no solver,
// InputError S006 for a problem that is too large for one, or (with copies) keeps more for a W than its activation was.
[[nodiscard]] SolvedOrder solve_order(const OrderProblem& problem, const std::vector<OrderStart>& starts,
                                      const SolverChoice& choice, OrderBudget& budget);

}  // namespace debubble
