#include "schedules/optimal/budget_param.hpp"

#include <array>
#include <string_view>

#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {

namespace {

struct BudgetUnit {
  std::string_view name;
  std::int64_t factor;  // nodes, or nanoseconds
  bool time;
};

constexpr std::array<BudgetUnit, 6> kBudgetUnits{{{"", 1, false},
                                                  {"k", 1'000, false},
                                                  {"M", 1'000'000, false},
                                                  {"ms", 1'000'000, true},
                                                  {"s", 1'000'000'000, true},
                                                  {"min", 60'000'000'000, true}}};

}  // namespace

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
  std::string_view unit = budget.text;
  const std::int64_t number = take_whole<std::int64_t>(unit).value_or(-1);
  for (const BudgetUnit& known : kBudgetUnits) {
    if (number < 0 || number > kMost || unit != known.name) continue;
    if (known.time) {
      if (number > kMost / 60'000) break;
      budget.time = std::chrono::nanoseconds(number * known.factor);
    } else {
      budget.nodes = number * known.factor;
    }
    return budget;
  }
  fail("S006", "--param budget", "\"" + budget.text + "\" is not a budget",
       std::string("write nodes of the search (") + kDefaultBudget +
           ", 2M), with which every machine finds the same order, or a time (10s), with which it may not");
}

}  // namespace debubble
