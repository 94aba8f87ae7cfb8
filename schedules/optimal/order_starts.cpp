#include "schedules/optimal/order_starts.hpp"

#include <algorithm>

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

std::optional<Orders> start_from(const Schedule& schedule, const OrderProblem& problem, const Placement& placement) {
  if (!is_plain(schedule, placement)) return std::nullopt;
  auto orders = orders_of(schedule, problem);
  if (orders && !within_limits(problem, *orders)) orders.reset();
  return orders;
}

}  // namespace debubble
