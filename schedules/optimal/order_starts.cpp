#include "schedules/optimal/order_starts.hpp"

#include <algorithm>
#include <optional>

#include "schedules/catalog.hpp"
#include "schedules/optimal/optimal.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

bool is_plain(const Schedule& schedule, const Placement& placement) {
  const bool moves =
      std::any_of(schedule.copies.begin(), schedule.copies.end(), [](const auto& lane) { return !lane.empty(); });
  return schedule.placement == placement && schedule.pieces == 1 && !schedule.asynchrony && !moves &&
         schedule.vocabulary_barriers == 0;
}

std::optional<Orders> orders_of(const Schedule& schedule, const OrderProblem& problem) {
  Orders orders(schedule.rows.size());
  for (std::size_t d = 0; d < schedule.rows.size(); ++d) {
    for (const Op& op : schedule.rows[d]) {
      switch (op.kind) {
        case OpKind::kForward:
        case OpKind::kInputGrad:
          orders[d].push_back(problem.queue(op.kind, op.stage));
          break;
        case OpKind::kBackward:
          orders[d].push_back(problem.queue(OpKind::kInputGrad, op.stage));
          if (problem.split) orders[d].push_back(problem.queue(OpKind::kWeightGrad, op.stage));
          break;
        case OpKind::kWeightGrad:
          if (problem.split) orders[d].push_back(problem.queue(op.kind, op.stage));
          break;
        case OpKind::kRecompute:
        case OpKind::kVocabularyLogits:
        case OpKind::kVocabularyGradient:
          return std::nullopt;
      }
    }
    if (orders[d].size() != at(problem.of_device, d).size() * to_index(problem.microbatches)) return std::nullopt;
  }
  return orders;
}

std::optional<Schedule> built(const ScheduleEntry& entry, const ScheduleRequest& request) {
  try {
    check_request(entry, request);
    return entry.build(request);
  } catch (const InputError&) {
    return std::nullopt;  // the row does not exist for this pipeline, or not within this memory
  }
}

}  // namespace

Orders one_at_a_time(const OrderProblem& problem) {
  Orders orders(to_index(problem.devices));
  for (int k = 0; k < problem.microbatches; ++k) {
    for (int s = 0; s < problem.stages; ++s) {
      const std::int32_t forward = problem.queue(OpKind::kForward, s);
      at(orders, at(problem.queues, forward).device).push_back(forward);
    }
    for (int s = problem.stages; s-- > 0;) {
      const std::int32_t gradient = problem.queue(OpKind::kInputGrad, s);
      std::vector<std::int32_t>& row = at(orders, at(problem.queues, gradient).device);
      row.push_back(gradient);
      if (problem.split) row.push_back(problem.queue(OpKind::kWeightGrad, s));
    }
  }
  return orders;
}

std::vector<OrderStart> starts_of_catalog(const OrderProblem& problem, const Placement& placement,
                                          const PlanningCosts& costs, const std::string& memory_limit) {
  std::vector<OrderStart> starts{{"one microbatch at a time", one_at_a_time(problem)}};
  if (!within_limits(problem, starts.front().orders)) return {};
  for (const ScheduleEntry& entry : schedule_catalog()) {
    if (entry.name == optimal_entry().name || entry.family == ScheduleFamily::kAsynchronous) continue;
    ScheduleRequest request{problem.devices, problem.microbatches, problem.stages / problem.devices, {}, nullptr};
    if (entry.uses_costs) request.costs = &costs;
    for (const ParamSpec& spec : entry.params) {
      if (spec.name == "memory_limit") request.params[spec.name] = memory_limit;
    }
    const auto schedule = built(entry, request);
    if (!schedule || !is_plain(*schedule, placement)) continue;
    const auto orders = orders_of(*schedule, problem);
    if (orders && within_limits(problem, *orders)) starts.push_back({entry.name, *orders});
  }
  return starts;
}

}  // namespace debubble
