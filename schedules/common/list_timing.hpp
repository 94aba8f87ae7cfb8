// What the engine says of a schedule by a planner's costs: when its ops begin and end, and what it takes as a whole.
// Latency per hop, no bandwidth.
#pragma once

#include <optional>
#include <vector>

#include "schedules/common/contract.hpp"
#include "sim/core/piece_share.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

// Equal stages: every pass of a device share takes 1 (1 ms), a whole backward 2; an activation is 1 (1 MiB).
[[nodiscard]] PlanningCosts unit_costs(const Schedule& schedule);

// Durations of a schedule's ops by its planning costs.
class PlanTimes {
 public:
  PlanTimes(const Schedule& schedule, const PlanningCosts& costs)
      : costs_(&costs), pieces_(schedule), side_by_side_(schedule.pairs_run_side_by_side) {}

  [[nodiscard]] Nanoseconds duration(const Op& op) const;
  // Of the cell at position `at` of the row: one op or a pair.
  [[nodiscard]] Nanoseconds cell(const std::vector<Op>& row, std::size_t at) const;
  // From the end of an op of `from` to the start of one of `to`, a neighbouring stage on another device.
  [[nodiscard]] Nanoseconds hop(int from, int to) const;
  // From the last shard's end to the first reader's start.
  [[nodiscard]] Nanoseconds barrier() const { return costs_->costs.vocabulary ? costs_->costs.vocabulary->barrier : 0; }

 private:
  const PlanningCosts* costs_;
  PieceShares pieces_;
  bool side_by_side_;
};

struct PlannedSpan {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

struct ListTiming {
  std::vector<std::vector<PlannedSpan>> rows;  // as the schedule's; members of a pair share a span
  Nanoseconds makespan = 0;
};

// The schedule must be complete and free of deadlock. Linear in the number of ops.
[[nodiscard]] ListTiming time_rows(const Schedule& schedule, const PlanningCosts& costs);

struct OrderRun {
  Nanoseconds makespan = 0;
  std::vector<Nanoseconds> last_ends;  // by device
};

// What the engine says of a complete schedule under the costs' rule for transfers. Nothing where it deadlocks under
// that rule, or the rule does not run what it holds.
[[nodiscard]] std::optional<OrderRun> planned_run(const Schedule& schedule, const PlanningCosts& costs);

}  // namespace debubble
