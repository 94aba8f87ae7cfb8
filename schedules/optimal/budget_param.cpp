#include "schedules/optimal/budget_param.hpp"

#include <initializer_list>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {

OrderBudget OptimalBudget::start() const { return time ? OrderBudget(*time) : OrderBudget(nodes); }

OptimalBudget OptimalBudget::half_of_time() const {
  OptimalBudget half = *this;
  if (half.time) *half.time /= 2;
  return half;
}

OrderBudget OptimalBudget::part(const OrderBudget& left, std::size_t searches) const {
  const auto parts = static_cast<std::int64_t>(searches);
  return time ? OrderBudget(left.time_left() / parts) : OrderBudget(left.left() / parts);
}

OptimalBudget optimal_budget_of(const ScheduleRequest& request) {
  OptimalBudget budget;
  const auto given = request.params.find("budget");
  budget.text = given == request.params.end() ? kDefaultBudget : given->second;
  constexpr std::int64_t kMost = 1'000'000'000;
  const QuantityText text = split_quantity(budget.text);
  const auto number = count_of(text.number, kMost);
  const auto time = unit_factor(QuantityKind::kDuration, text.unit);
  if (number && time && *number <= kMost / 60'000) {
    budget.time = std::chrono::nanoseconds(*number * *time);
    return budget;
  }
  for (const auto& [unit, nodes] :
       std::initializer_list<std::pair<const char*, int>>{{"", 1}, {"k", 1'000}, {"M", 1'000'000}}) {
    if (!number || text.unit != unit) continue;
    budget.nodes = *number * nodes;
    return budget;
  }
  fail("S006", "--param budget", "\"" + budget.text + "\" is not a budget",
       std::string("write nodes of the search (") + kDefaultBudget +
           ", 2M), with which every machine finds the same order, or a time (10s), with which it may not");
}

}  // namespace debubble
