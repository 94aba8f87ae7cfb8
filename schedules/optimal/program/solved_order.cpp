#include "schedules/optimal/program/solved_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "schedules/optimal/program/program_copies.hpp"
#include "schedules/optimal/program/solver_loader.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {

namespace {

constexpr std::int64_t kSolverNode = 500;  // nodes of our search that one of a solver counts for: it solves an LP there
constexpr std::size_t kMostPairs = 40'000;  // of ops of one device: more columns than a solver of this kind can use

void refuse_large(const OrderProblem& problem) {
  std::size_t pairs = 0;
  for (const auto& queues : problem.of_device) {
    const std::size_t ops = queues.size() * to_index(problem.microbatches);
    pairs += ops * ops / 2;
  }
  if (pairs <= kMostPairs) return;
  fail("S006", "--param solver",
       counted(static_cast<std::int64_t>(problem.ops()), "op") + " are too many for a MILP: " + std::to_string(pairs) +
           " pairs of ops that share a device, at most " + std::to_string(kMostPairs),
       "use --param solver=search, or fewer microbatches");
}

void refuse_growing(const OrderProblem& problem) {
  for (const OrderQueue& queue : problem.queues) {
    if (queue.at_end <= 0) continue;
    fail("S006", "--param offload",
         "stage " + std::to_string(queue.stage) + " keeps more for its weight gradients than its activation was",
         "leave offload out, or give a hold of at most 1");
  }
}

// What memory says of orders does not hold where activations may leave.
OrderBound bound_of(OrderProblem problem, bool copies) {
  if (copies) problem.limits.assign(problem.limits.size(), std::numeric_limits<Bytes>::max() / 4);
  return order_bound(problem);
}

class OrderSolver {
 public:
  OrderSolver(const OrderProblem& problem, const SolverChoice& choice) : problem_(problem), choice_(choice) {}

  SolvedOrder run(const std::vector<OrderStart>& starts, OrderBudget& budget) {
    OrderTimes times(problem_);
    OrderPlan& plan = solved_.plan;
    for (const OrderStart& start : starts) {
      if (!times.evaluate(start.orders) || (!plan.orders.empty() && times.cost() >= plan.cost)) continue;
      plan.orders = start.orders;
      plan.start = start.name;
      plan.start_cost = plan.cost = times.cost();
    }
    if (choice_.copies) solved_.copies.resize(plan.orders.size());
    plan.bound = bound_of(problem_, choice_.copies);
    if ((!choice_.aided || !plan.proven()) && !budget.spent()) solve(budget);
    return std::move(solved_);
  }

 private:
  void solve(OrderBudget& budget) {
    const MixedSolver& solver = load_mixed_solver();
    OrderPlan& plan = solved_.plan;
    OrderProgram order(problem_, choice_.aided ? plan.bound.cost : std::min<Nanoseconds>(0, plan.bound.cost),
                       plan.start_cost);
    std::optional<ProgramCopies> copies;
    if (choice_.copies) {
      copies.emplace(order);
    } else {
      order.add_memory();
    }
    MixedArrays arrays(order.program());
    MixedQuestion& question = arrays.question();
    const std::int64_t nodes = std::max<std::int64_t>(1, budget.left() / kSolverNode);
    question.nodes = static_cast<int>(std::min<std::int64_t>(nodes, std::numeric_limits<int>::max()));
    budget.charge(0);  // looks at the clock
    if (budget.spent()) return;
    if (budget.timed()) question.seconds = std::max(1e-3, static_cast<double>(budget.time_left().count()) / 1e9);
    std::vector<double> values(to_index(question.columns), 0);
    MixedAnswer answer;
    answer.values = values.data();
    solver.solve(question, answer);
    budget.charge(answer.nodes * kSolverNode);
    solved_.nodes = answer.nodes;
    solved_.solver =
        std::string(solver.name()) + ": " + counted(question.columns, "column") + ", " + counted(question.rows, "row");
    const bool kept = answer.found && accept(order, copies, values);
    const double claimed = at(values, order.cost()) * order.unit();
    const bool as_claimed = static_cast<double>(plan.cost) <= claimed * (1 + 1e-6) + 1e-3 * order.unit();
    if (kept && answer.proven && as_claimed) {
      plan.exhausted = true;
      plan.bound.cost = plan.cost;
    } else if (!answer.infeasible && std::isfinite(answer.bound)) {
      // A solver's own bound is as exact as its arithmetic; without one it may be any huge number.
      const double bound = std::floor(answer.bound * order.unit() * (1 - 1e-6));
      if (bound > static_cast<double>(plan.bound.cost) && bound <= static_cast<double>(plan.cost)) {
        plan.bound = {static_cast<Nanoseconds>(bound), ""};
      }
    }
  }

  // Whether the solution is what it should be, by whole numbers.
  bool accept(const OrderProgram& order, const std::optional<ProgramCopies>& copies,
              const std::vector<double>& values) {
    OrderPlan& plan = solved_.plan;
    Orders orders = order.orders(values);
    Nanoseconds cost = 0;
    OrderCopies moved;
    if (copies) {
      moved = copies->copies(values, orders);
      const CopiedTimes times = time_with_copies(problem_, orders, moved);
      if (!times.runs) return false;
      for (std::size_t d = 0; d < times.peaks.size(); ++d) {
        if (times.peaks[d] > problem_.limits[d]) return false;
      }
      cost = times.cost;
    } else {
      OrderTimes times(problem_);
      if (!within_limits(problem_, orders) || !times.evaluate(orders)) return false;
      cost = times.cost();
    }
    if (cost > plan.cost) return false;
    if (cost == plan.cost) return true;
    plan.cost = cost;
    plan.orders = std::move(orders);
    solved_.copies = std::move(moved);
    return true;
  }

  const OrderProblem& problem_;
  const SolverChoice& choice_;
  SolvedOrder solved_;
};

}  // namespace

SolvedOrder solve_order(const OrderProblem& problem, const std::vector<OrderStart>& starts, const SolverChoice& choice,
                        OrderBudget& budget) {
  refuse_large(problem);
  if (choice.copies) refuse_growing(problem);
  return OrderSolver(problem, choice).run(starts, budget);
}

}  // namespace debubble
