#include "schedules/optimal/order_search.hpp"

#include <algorithm>
#include <limits>

#include "schedules/optimal/window_search.hpp"
#include "sim/core/splitmix.hpp"

namespace debubble {

namespace {

constexpr std::size_t kMostWhole = 600;       // ops of a problem that is searched whole
constexpr std::size_t kMostScheduled = 4000;  // ops that a list scheduler runs: the search goes as deep

class OrderSearch {
 public:
  OrderSearch(const OrderProblem& problem, OrderBudget& budget)
      : problem_(problem), budget_(budget), times_(problem), window_(problem) {}

  OrderPlan run(const std::vector<OrderStart>& starts) {
    plan_.bound = order_bound(problem_);
    for (const OrderStart& start : starts) {
      if (!times_.evaluate(start.orders)) continue;
      if (!plan_.orders.empty() && times_.cost() >= plan_.cost) continue;
      plan_.orders = start.orders;
      plan_.start = start.name;
      plan_.start_cost = plan_.cost = times_.cost();
    }
    accept(plan_.orders);
    const bool small = problem_.ops() <= kMostWhole;
    if (small && !finished()) whole(budget_.left() / 8);
    if (!finished()) from_two_sides();
    while (!finished()) {
      descend();
      if (finished()) break;
      if (small && (rounds_ & (rounds_ - 1)) == 0) whole(budget_.left() / 4);
      ++rounds_;
      disturb();
    }
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool finished() const { return plan_.proven() || budget_.spent(); }

  void accept(Orders orders) {
    current_ = std::move(orders);
    times_.evaluate(current_);
    cost_ = times_.cost();
    if (cost_ >= plan_.cost) return;
    plan_.orders = current_;
    plan_.cost = cost_;
  }

  bool attempt(std::size_t from, std::size_t to, std::int64_t nodes) {
    const WindowChoice choice{from, to, cost_, nodes};
    budget_.charge(static_cast<std::int64_t>(problem_.ops() / 64));
    WindowResult result = window_.search(current_, times_, choice, budget_);
    if (!result.found) return false;
    accept(std::move(result.orders));
    return true;
  }

  // All of it: what it finds is the optimum if it comes to an end.
  void whole(std::int64_t nodes) {
    accept(plan_.orders);
    const WindowChoice choice{0, problem_.ops(), plan_.cost, nodes};
    WindowResult result = window_.search(current_, times_, choice, budget_);
    if (result.found) accept(std::move(result.orders));
    if (result.complete) {
      plan_.exhausted = true;
      plan_.bound.cost = plan_.cost;
    }
  }

  // From the best row, and from the order in which a list scheduler runs the ops: on each device the one with the most
  // to follow. The better one first, with half of the budget at most.
  void from_two_sides() {
    const Orders row = current_;
    Orders listed;
    if (problem_.ops() <= kMostScheduled) {
      const auto nodes = static_cast<std::int64_t>(2 * problem_.ops());
      const WindowChoice choice{0, problem_.ops(), std::numeric_limits<Nanoseconds>::max() / 4, nodes};
      listed = window_.search(current_, times_, choice, budget_).orders;
    }
    if (!listed.empty()) accept(listed);
    const bool row_first = cost_ > plan_.cost;
    for (const Orders& from : {row_first ? row : listed, row_first ? listed : row}) {
      if (from.empty() || finished()) continue;
      accept(from);
      descend(budget_.left() / 2);
    }
  }

  // Windows one after the other, until none helps or no more than `leave` is left of the budget.
  void descend(std::int64_t leave = 0) {
    const std::size_t ops = problem_.ops();
    for (bool better = true; better && !finished() && budget_.left() > leave;) {
      better = false;
      for (const std::size_t size : {std::size_t{24}, std::size_t{48}, std::size_t{80}}) {
        for (std::size_t from = 0; from < ops && !finished() && budget_.left() > leave; from += size / 2) {
          better = attempt(from, std::min(ops, from + size), 600) || better;
          if (from + size >= ops) break;
        }
      }
    }
  }

  // From the best order on: some ops of a device change places with others near them, whatever that costs.
  void disturb() {
    const std::size_t ops = problem_.ops();
    if (cost_ > plan_.cost) accept(plan_.orders);
    seed_ = splitmix64(seed_);
    const auto d = to_index(seed_ % to_index(problem_.devices));
    std::vector<std::int32_t>& row = current_[d];
    for (int k = 0; k < 8; ++k) {
      seed_ = splitmix64(seed_);
      const std::size_t a = seed_ % row.size();
      seed_ = splitmix64(seed_);
      const std::size_t b = std::min(row.size() - 1, a + 1 + static_cast<std::size_t>(seed_ % 4));
      if (row[a] == row[b]) continue;
      std::swap(row[a], row[b]);
      if (!within_limits(problem_, current_) || !times_.evaluate(current_)) std::swap(row[a], row[b]);
      budget_.charge(static_cast<std::int64_t>(ops / 16 + 1));
    }
    times_.evaluate(current_);
    cost_ = times_.cost();
    budget_.charge(1);
  }

  const OrderProblem& problem_;
  OrderBudget& budget_;
  OrderTimes times_;
  WindowSearch window_;
  OrderPlan plan_;
  Orders current_;
  Nanoseconds cost_ = 0;
  std::uint64_t seed_ = 1;
  unsigned rounds_ = 1;
};

}  // namespace

OrderPlan search_orders(const OrderProblem& problem, const std::vector<OrderStart>& starts, OrderBudget& budget) {
  return OrderSearch(problem, budget).run(starts);
}

}  // namespace debubble
