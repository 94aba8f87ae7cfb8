#include "schedules/optimal/copies/copied_order.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "schedules/optimal/copies/copy_moves.hpp"
#include "schedules/optimal/order_search.hpp"

namespace debubble {

namespace {

constexpr Bytes kAllMemory = std::numeric_limits<Bytes>::max() / 4;
constexpr Nanoseconds kNoCost = std::numeric_limits<Nanoseconds>::max() / 4;
constexpr const char* kOtherMemory = "an order for more memory";
constexpr std::size_t kMostCopiedOps = 48;  // of a problem for the exact search

OrderBudget part_of_budget(const OrderBudget& budget, int part) {
  return budget.timed() ? OrderBudget(budget.time_left() / part) : OrderBudget(budget.left() / part);
}

class CopiedSearch {
 public:
  CopiedSearch(const OrderProblem& problem, const std::optional<CopiedOrder>& known, bool own, OrderBudget& budget)
      : problem_(problem),
        budget_(budget),
        cleaning_nodes_(budget.left() / 8),
        cleaning_time_(budget.time_left() / 40),
        moves_(problem, budget),
        tree_(problem) {
    if (known) known_ = known->cost;
    if (known && own) moves_.offer(*known);
  }

  CopiedPlan run(const std::vector<OrderStart>& starts) {
    find_bound(starts);
    if (!finished()) {
      for (const OrderStart& start : starts) moves_.add_start(start.name, start.orders);
      moves_.add_start(kOtherMemory, free_plan_);
      orders_between(starts);
      moves_.repair_starts(budget_.left() / 2);
      plan_.start = moves_.best_start();
      plan_.start_cost = moves_.best_start_cost();
    }
    const bool small = problem_.ops() <= kMostCopiedOps && CopyTree::applies(problem_);
    bool first = true;
    while (!finished()) {
      constexpr std::int64_t kPlansAtOnce = 4000;
      const std::int64_t affordable = std::max<std::int64_t>(200, budget_.left() / 4 / moves_.price());
      moves_.anneal(std::min(kPlansAtOnce, affordable));
      if (first && small && !finished()) whole();
      first = false;
    }
    finish();
    return std::move(plan_);
  }

 private:
  // What is known of this problem or another one; only what costs less is of interest.
  [[nodiscard]] Nanoseconds least() const { return moves_.best() ? std::min(known_, moves_.best()->cost) : known_; }
  [[nodiscard]] bool met() const { return least() <= plan_.bound.cost; }
  [[nodiscard]] bool finished() const { return plan_.exhausted || met() || budget_.spent(); }

  // Without limits: the bound, and an order that copies might make possible.
  void find_bound(const std::vector<OrderStart>& starts) {
    OrderProblem free = problem_;
    free.limits.assign(free.limits.size(), kAllMemory);
    OrderBudget part = part_of_budget(budget_, 4);
    OrderPlan plan = search_orders(free, starts, part);
    budget_.charge(part.used());
    plan_.bound = {plan.bound.cost, "no amount of memory makes it shorter"};
    if (!plan.exhausted && !plan.bound.because.empty()) plan_.bound.because = plan.bound.because;
    const OrderBound memory = copied_memory_bound(problem_);
    if (memory.cost > plan_.bound.cost) plan_.bound = memory;
    free_plan_ = std::move(plan.orders);
  }

  // Orders for somewhat more memory than there is: fewer activations have to leave.
  void orders_between(const std::vector<OrderStart>& starts) {
    for (const int percent : {125, 150, 200, 300}) {
      if (finished()) return;
      OrderProblem more = problem_;
      for (Bytes& limit : more.limits) limit = limit / 100 * percent + limit % 100 * percent / 100;
      std::vector<OrderStart> fitting;
      for (const OrderStart& start : starts) {
        if (within_limits(more, start.orders)) fitting.push_back(start);
      }
      if (fitting.empty()) continue;
      OrderBudget part = part_of_budget(budget_, 12);
      const OrderPlan plan = search_orders(more, fitting, part);
      budget_.charge(part.used());
      moves_.add_start(kOtherMemory, plan.orders);
    }
  }

  // All orders with all plans of copies, with most of what is left.
  void whole() {
    OrderBudget part(budget_.timed() ? OrderBudget(budget_.time_left() / 4 * 3) : OrderBudget(budget_.left() / 4 * 3));
    CopyTree::Result result = tree_.search(least(), part);
    budget_.charge(part.used());
    if (result.found) moves_.offer(result.best);
    if (!result.complete) return;
    plan_.exhausted = true;
    if (least() < kNoCost) plan_.bound = {least(), ""};
  }

  void finish() {
    moves_.drop_idle_copies(budget_.timed() ? OrderBudget(cleaning_time_) : OrderBudget(cleaning_nodes_));
    if (moves_.best() && moves_.best()->cost < known_) plan_.order = moves_.best();
  }

  const OrderProblem& problem_;
  Nanoseconds known_ = kNoCost;
  OrderBudget& budget_;
  std::int64_t cleaning_nodes_;  // for the plan found, beside the budget
  OrderBudget::Clock::duration cleaning_time_;
  CopyMoves moves_;
  CopyTree tree_;
  CopiedPlan plan_;
  Orders free_plan_;
};

}  // namespace

CopiedPlan search_copied_orders(const OrderProblem& problem, const std::vector<OrderStart>& starts,
                                const std::optional<CopiedOrder>& known, bool own, OrderBudget& budget) {
  return CopiedSearch(problem, known, own, budget).run(starts);
}

}  // namespace debubble
