// The parameter `budget` of the schedule `optimal`: nodes ("200000", "50k", "2M") or time ("10s", "500ms").
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "schedules/common/contract.hpp"
#include "schedules/optimal/order_budget.hpp"

namespace debubble {

inline constexpr const char* kDefaultBudget = "100k";

struct OptimalBudget {
  std::string text;  // as given or by default
  std::int64_t nodes = 0;
  std::optional<std::chrono::nanoseconds> time{};  // instead of nodes

  [[nodiscard]] OrderBudget start() const;
  // Half of a time; nodes are the same.
  [[nodiscard]] OptimalBudget half_of_time() const;
  // An equal part of what is left, for one of so many searches.
  [[nodiscard]] OrderBudget part(const OrderBudget& left, std::size_t searches) const;
};

// Throws InputError (S006) for what is no budget.
[[nodiscard]] OptimalBudget optimal_budget_of(const ScheduleRequest& request);

}  // namespace debubble
