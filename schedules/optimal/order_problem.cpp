#include "schedules/optimal/order_problem.hpp"

#include <algorithm>

#include "schedules/zero_bubble/planning.hpp"

namespace debubble {

namespace {

void add_queues(OrderProblem& problem, const StageCost& cost, int stage, std::int32_t device) {
  OrderQueue forward;
  forward.stage = stage;
  forward.device = device;
  forward.duration = cost.forward;
  forward.at_begin = cost.activation;
  forward.copy = cost.copy;
  OrderQueue gradient = forward;
  gradient.kind = problem.split ? OpKind::kInputGrad : OpKind::kBackward;
  gradient.duration = problem.split ? cost.input_grad : cost.backward;
  gradient.at_begin = 0;
  gradient.copy = 0;
  gradient.at_end = (problem.split ? cost.weight_grad_held : 0) - cost.activation;
  problem.queues.push_back(forward);
  problem.queues.push_back(gradient);
  if (!problem.split) return;
  OrderQueue weights = gradient;
  weights.kind = OpKind::kWeightGrad;
  weights.duration = cost.weight_grad;
  weights.at_end = -cost.weight_grad_held;
  problem.queues.push_back(weights);
}

void join_queues(OrderProblem& problem, std::int32_t maker, std::int32_t user, Nanoseconds lag) {
  at(problem.queues, user).feeder = maker;
  at(problem.queues, user).lag = lag;
  at(problem.queues, maker).consumer = user;
}

void follow_queue(OrderProblem& problem, std::int32_t first, std::int32_t then) {
  at(problem.queues, then).needs = first;
  at(problem.queues, first).follower = then;
}

// When the first op of a device can begin at the earliest.
std::vector<Nanoseconds> earliest_begins(const OrderProblem& problem) {
  std::vector<Nanoseconds> begins(to_index(problem.devices), -1);
  Nanoseconds now = 0;
  for (int s = 0; s < problem.stages; ++s) {
    const OrderQueue& forward = at(problem.queues, problem.queue(OpKind::kForward, s));
    now += forward.lag;
    if (at(begins, forward.device) < 0) at(begins, forward.device) = now;
    now += forward.duration;
  }
  return begins;
}

}  // namespace

OrderProblem order_problem(const PlanningCosts& costs, const Placement& placement, int microbatches,
                           const std::vector<Bytes>& limits, bool split, OrderGoal goal) {
  OrderProblem problem;
  problem.devices = static_cast<int>(limits.size());
  problem.microbatches = microbatches;
  problem.stages = placement.stages();
  problem.split = split;
  problem.limits = limits;
  problem.of_device.resize(limits.size());
  for (int s = 0; s < problem.stages; ++s) add_queues(problem, at(costs.costs.stages, s), s, placement.device_of(0, s));
  for (int s = 0; s < problem.stages; ++s) {
    const std::int32_t forward = problem.queue(OpKind::kForward, s);
    const std::int32_t gradient = problem.queue(OpKind::kInputGrad, s);
    follow_queue(problem, forward, gradient);
    if (split) follow_queue(problem, gradient, problem.queue(OpKind::kWeightGrad, s));
    if (s + 1 == problem.stages) continue;
    const Nanoseconds hop = hop_after(costs, placement, s);
    join_queues(problem, forward, problem.queue(OpKind::kForward, s + 1), hop);
    join_queues(problem, problem.queue(OpKind::kInputGrad, s + 1), gradient, hop);
  }
  for (std::size_t q = 0; q < problem.queues.size(); ++q) {
    at(problem.of_device, problem.queues[q].device).push_back(static_cast<std::int32_t>(q));
  }
  problem.offsets.assign(limits.size(), 0);
  if (goal == OrderGoal::kSpan) problem.offsets = earliest_begins(problem);
  return problem;
}

bool within_limits(const OrderProblem& problem, const Orders& orders) {
  for (std::size_t d = 0; d < orders.size(); ++d) {
    Bytes held = 0;
    for (const std::int32_t q : orders[d]) {
      held += at(problem.queues, q).at_begin;
      if (held > problem.limits[d]) return false;
      held += at(problem.queues, q).at_end;
      if (held > problem.limits[d]) return false;
    }
  }
  return true;
}

OrderTimes::OrderTimes(const OrderProblem& problem)
    : problem_(problem),
      ends_(problem.ops()),
      begins_(problem.ops()),
      tails_(problem.ops()),
      free_(to_index(problem.devices)),
      counts_(problem.queues.size()),
      position_(to_index(problem.devices)) {}

void OrderTimes::place(std::int32_t queue, std::int32_t microbatch) {
  const OrderQueue& q = at(problem_.queues, queue);
  Nanoseconds begin = at(free_, q.device);
  if (q.feeder >= 0) begin = std::max(begin, ends_[problem_.id(q.feeder, microbatch)] + q.lag);
  const std::size_t id = problem_.id(queue, microbatch);
  begins_[id] = begin;
  ends_[id] = at(free_, q.device) = begin + q.duration;
  sequence_.push_back(static_cast<std::int32_t>(id));
}

bool OrderTimes::evaluate(const Orders& orders) {
  std::fill(free_.begin(), free_.end(), 0);
  std::fill(counts_.begin(), counts_.end(), 0);
  std::fill(position_.begin(), position_.end(), 0);
  sequence_.clear();
  devices_.clear();
  for (int d = problem_.devices; d-- > 0;) devices_.push_back(d);
  while (!devices_.empty()) {
    const std::int32_t d = devices_.back();
    devices_.pop_back();
    const std::vector<std::int32_t>& row = at(orders, d);
    for (std::int32_t& k = at(position_, d); to_index(k) < row.size(); ++k) {
      const std::int32_t q = at(row, k);
      const OrderQueue& queue = at(problem_.queues, q);
      const std::int32_t microbatch = at(counts_, q);
      if (queue.needs >= 0 && at(counts_, queue.needs) <= microbatch) break;
      if (queue.feeder >= 0 && at(counts_, queue.feeder) <= microbatch) break;
      place(q, microbatch);
      ++at(counts_, q);
      if (queue.consumer < 0) continue;
      const OrderQueue& next = at(problem_.queues, queue.consumer);
      const std::int32_t other = next.device;
      if (other != d && at(counts_, queue.consumer) == microbatch &&
          to_index(at(position_, other)) < at(orders, other).size() &&
          at(at(orders, other), at(position_, other)) == queue.consumer) {
        devices_.push_back(other);
      }
    }
  }
  if (sequence_.size() != problem_.ops()) return false;
  add_tails();
  return true;
}

void OrderTimes::add_tails() {
  // `sequence_` is an order in which ops follow what they need; walked from its end, what follows an op has its tail.
  cost_ = 0;
  std::vector<Nanoseconds>& after = free_;  // by device: from the end of what precedes to the cost
  for (std::size_t d = 0; d < after.size(); ++d) {
    after[d] = -problem_.offsets[d];
  }
  bool first = true;
  for (std::size_t n = sequence_.size(); n-- > 0;) {
    const auto id = static_cast<std::size_t>(sequence_[n]);
    const std::size_t q = id / to_index(problem_.microbatches);
    const OrderQueue& queue = problem_.queues[q];
    Nanoseconds tail = at(after, queue.device);
    if (queue.consumer >= 0) {
      const OrderQueue& next = at(problem_.queues, queue.consumer);
      const std::size_t user =
          problem_.id(queue.consumer, static_cast<std::int32_t>(id % to_index(problem_.microbatches)));
      tail = std::max(tail, next.lag + next.duration + tails_[user]);
    }
    tails_[id] = tail;
    at(after, queue.device) = tail + queue.duration;
    cost_ = first ? ends_[id] + tail : std::max(cost_, ends_[id] + tail);
    first = false;
  }
  // A begin is never before that of what is needed; of equal ones the sequence keeps its order.
  std::stable_sort(sequence_.begin(), sequence_.end(),
                   [this](std::int32_t a, std::int32_t b) { return begins_[to_index(a)] < begins_[to_index(b)]; });
}

}  // namespace debubble
