// Where a search for an order starts: what another schedule does with the same pipeline.
#pragma once

#include <optional>
#include <string>

#include "schedules/optimal/order_problem.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

struct OrderStart {
  std::string name;  // of the catalog's row
  Orders orders;
};

// Every microbatch up the stages and down again before the next one begins: no order needs less memory.
[[nodiscard]] Orders one_at_a_time(const OrderProblem& problem);

// The schedule's order, if it has these stages on these devices in one replica, moves nothing away and keeps the
// problem's limits. A whole backward is its two parts one after the other where the problem splits it, and the other
// way round; the members of a pair run one after the other.
[[nodiscard]] std::optional<Orders> start_from(const Schedule& schedule, const OrderProblem& problem,
                                               const Placement& placement);

}  // namespace debubble
