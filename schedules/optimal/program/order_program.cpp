#include "schedules/optimal/program/order_program.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace debubble {

namespace {

// Queue by queue so that each follows what its ops need: F up the stages, gradients down, W.
std::vector<std::int32_t> queues_in_order(const OrderProblem& problem) {
  std::vector<std::int32_t> order;
  for (int s = 0; s < problem.stages; ++s) order.push_back(problem.queue(OpKind::kForward, s));
  for (int s = problem.stages; s-- > 0;) order.push_back(problem.queue(OpKind::kInputGrad, s));
  for (int s = 0; problem.split && s < problem.stages; ++s) order.push_back(problem.queue(OpKind::kWeightGrad, s));
  return order;
}

}  // namespace

OrderProgram::OrderProgram(const OrderProblem& problem, Nanoseconds least, Nanoseconds most)
    : problem_(problem),
      leads_(problem.queues.size(), std::vector<char>(problem.queues.size(), 0)),
      begins_(problem.ops(), 0),
      of_device_(problem.of_device.size()) {
  for (const std::int32_t q : queues_in_order(problem)) {
    const OrderQueue& queue = at(problem.queues, q);
    for (const std::int32_t source : {queue.needs, queue.feeder}) {
      if (source < 0) continue;
      at(at(leads_, source), q) = 1;
      for (std::vector<char>& from : leads_) {
        if (at(from, source) != 0) at(from, q) = 1;
      }
    }
    for (int k = 0; k < problem.microbatches; ++k) at(of_device_, queue.device).push_back(problem.id(q, k));
  }
  choose_unit(most);
  add_begins(most);
  add_cost(least, most);
  add_flow();
  for (const auto& ops : of_device_) {
    for (std::size_t a = 0; a < ops.size(); ++a) {
      for (std::size_t b = a + 1; b < ops.size(); ++b) add_pair(std::min(ops[a], ops[b]), std::max(ops[a], ops[b]));
    }
  }
  add_overtaking();
  add_sums();
}

// The largest unit of which all times are multiples, unless the program's numbers would become too large for a solver.
void OrderProgram::choose_unit(Nanoseconds most) {
  constexpr double kMostUnits = 1e6;
  Nanoseconds common = 0;
  for (const OrderQueue& queue : problem_.queues) {
    for (const Nanoseconds time : {queue.duration, queue.lag, queue.copy}) common = std::gcd(common, time);
  }
  for (const Nanoseconds offset : problem_.offsets) common = std::gcd(common, offset);
  unit_ = static_cast<double>(std::max<Nanoseconds>(common, 1));
  if (static_cast<double>(most) / unit_ > kMostUnits) unit_ = static_cast<double>(most) / 1e4;
}

void OrderProgram::add_begins(Nanoseconds most) {
  const std::vector<std::int32_t> order = queues_in_order(problem_);
  const auto m = problem_.microbatches;
  std::vector<Nanoseconds> heads(problem_.ops(), 0);
  std::vector<Nanoseconds> tails(problem_.ops(), 0);
  for (const std::int32_t q : order) {
    const OrderQueue& queue = at(problem_.queues, q);
    for (int k = 0; k < m; ++k) {
      Nanoseconds& head = heads[problem_.id(q, k)];
      if (k > 0) head = heads[problem_.id(q, k - 1)] + queue.duration;
      if (queue.feeder >= 0) {
        head = std::max(head,
                        heads[problem_.id(queue.feeder, k)] + at(problem_.queues, queue.feeder).duration + queue.lag);
      }
      if (queue.needs >= 0) {
        head = std::max(head, heads[problem_.id(queue.needs, k)] + at(problem_.queues, queue.needs).duration);
      }
    }
  }
  for (std::size_t n = order.size(); n-- > 0;) {
    const std::int32_t q = order[n];
    const OrderQueue& queue = at(problem_.queues, q);
    for (int k = m; k-- > 0;) {
      Nanoseconds& tail = tails[problem_.id(q, k)];
      tail = -at(problem_.offsets, queue.device);
      if (k + 1 < m) tail = std::max(tail, tails[problem_.id(q, k + 1)] + queue.duration);
      for (const std::int32_t user : {queue.consumer, queue.follower}) {
        if (user < 0) continue;
        const OrderQueue& other = at(problem_.queues, user);
        const Nanoseconds lag = user == queue.consumer ? other.lag : 0;
        tail = std::max(tail, lag + other.duration + tails[problem_.id(user, k)]);
      }
    }
  }
  for (std::size_t op = 0; op < problem_.ops(); ++op) {
    begins_[op] = program_.add_column(scaled(heads[op]), scaled(most - tails[op] - queue_of(op).duration), false);
  }
}

void OrderProgram::add_cost(Nanoseconds least, Nanoseconds most) {
  cost_ = program_.add_column(scaled(least), scaled(most), false);
  program_.minimise(cost_);
}

void OrderProgram::add_flow() {
  const auto follows = [&](std::size_t first, std::size_t then, double lag) {
    MixedSum sum;
    sum.add(1, begin(then));
    sum.add(-1, begin(first));
    program_.at_least(sum, duration(first) + lag);
  };
  for (std::size_t n = 0; n < problem_.queues.size(); ++n) {
    const auto q = static_cast<std::int32_t>(n);
    const OrderQueue& queue = problem_.queues[n];
    for (int k = 0; k < problem_.microbatches; ++k) {
      if (k > 0) follows(problem_.id(q, k - 1), problem_.id(q, k), 0);
      if (queue.needs >= 0) follows(problem_.id(queue.needs, k), problem_.id(q, k), 0);
      if (queue.feeder >= 0) follows(problem_.id(queue.feeder, k), problem_.id(q, k), scaled(queue.lag));
    }
  }
}

bool OrderProgram::always_before(std::size_t one, std::size_t other) const {
  const auto m = to_index(problem_.microbatches);
  const std::size_t q = one / m;
  const std::size_t r = other / m;
  if (q == r) return one < other;
  return leads_[q][r] != 0 && one % m <= other % m;
}

MixedSum OrderProgram::before(std::size_t one, std::size_t other) const {
  MixedSum sum;
  if (always_before(one, other)) {
    sum.constant = 1;
  } else if (!always_before(other, one)) {
    const int column = pairs_.at({std::min(one, other), std::max(one, other)});
    if (one > other) sum.constant = 1;
    sum.add(one < other ? 1 : -1, column);
  }
  return sum;
}

void OrderProgram::add_pair(std::size_t one, std::size_t other) {
  if (always_before(one, other) || always_before(other, one)) return;
  pairs_[{one, other}] = program_.add_binary();
  for (const auto& [first, then] : {std::pair{one, other}, std::pair{other, one}}) {
    const double most = std::max(0.0, latest(first) + duration(first) - earliest(then));
    MixedSum sum;  // x(then) - x(first) - d + M - M y >= 0
    sum.add(1, begin(then));
    sum.add(-1, begin(first));
    sum.add(-most, before(first, then));
    program_.at_least(sum, duration(first) - most);
  }
}

// y(a of k, b of l) rises with l and falls with k.
void OrderProgram::add_overtaking() {
  const auto m = to_index(problem_.microbatches);
  const auto rises = [&](std::size_t one, std::size_t other, std::size_t more_one, std::size_t more_other) {
    MixedSum sum = before(more_one, more_other);
    sum.add(-1, before(one, other));
    if (!sum.terms.empty()) program_.at_least(sum, 0);
  };
  for (const auto& [pair, column] : pairs_) {
    const auto [one, other] = pair;
    if (other % m + 1 < m) rises(one, other, one, other + 1);
    if (one % m + 1 < m) rises(one + 1, other, one, other);
  }
}

// An op begins after all that precedes it on its device, and the cost comes after all that follows it.
void OrderProgram::add_sums() {
  for (std::size_t d = 0; d < of_device_.size(); ++d) {
    double head = INFINITY;
    for (const std::size_t op : of_device_[d]) head = std::min(head, earliest(op));
    for (const std::size_t op : of_device_[d]) {
      MixedSum early;
      early.add(1, begin(op));
      MixedSum late;
      late.add(1, cost_);
      late.add(-1, begin(op));
      for (const std::size_t other : of_device_[d]) {
        if (other == op) continue;
        early.add(-duration(other), before(other, op));
        late.add(-duration(other), before(op, other));
      }
      program_.at_least(early, head);
      program_.at_least(late, duration(op) - scaled(problem_.offsets[d]));
    }
  }
}

void OrderProgram::add_memory() {
  for (std::size_t d = 0; d < of_device_.size(); ++d) {
    const auto limit = static_cast<double>(std::max<Bytes>(problem_.limits[d], 1));
    for (const std::size_t op : of_device_[d]) {
      const OrderQueue& queue = queue_of(op);
      const Bytes takes = queue.at_begin + std::max<Bytes>(queue.at_end, 0);
      if (takes <= 0) continue;
      MixedSum held;
      held.constant = static_cast<double>(takes) / limit;
      for (const std::size_t other : of_device_[d]) {
        if (other == op) continue;
        held.add(static_cast<double>(queue_of(other).at_begin + queue_of(other).at_end) / limit, before(other, op));
      }
      program_.at_most(held, 1);
    }
  }
}

double OrderProgram::value(const MixedSum& sum, const std::vector<double>& values) {
  double value = sum.constant;
  for (const auto& [column, factor] : sum.terms) value += factor * at(values, column);
  return value;
}

Orders OrderProgram::orders(const std::vector<double>& values) const {
  Orders orders(of_device_.size());
  const auto m = to_index(problem_.microbatches);
  for (std::size_t d = 0; d < of_device_.size(); ++d) {
    std::vector<std::pair<long, std::size_t>> placed;  // by how many ops precede it
    for (const std::size_t op : of_device_[d]) {
      long place = 0;
      for (const std::size_t other : of_device_[d]) {
        if (other != op) place += std::lround(value(before(other, op), values));
      }
      placed.emplace_back(place, op);
    }
    std::sort(placed.begin(), placed.end());
    for (const auto& each : placed) orders[d].push_back(static_cast<std::int32_t>(each.second / m));
  }
  return orders;
}

}  // namespace debubble
