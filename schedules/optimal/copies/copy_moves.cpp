#include "schedules/optimal/copies/copy_moves.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "sim/core/splitmix.hpp"

namespace debubble {

CopyMoves::CopyMoves(const OrderProblem& problem, OrderBudget& budget)
    : problem_(problem), budget_(budget), places_(problem.ops(), 0), counts_(problem.queues.size(), 0) {
  double bytes = 0;
  double time = 0;
  for (std::size_t n = 0; n < problem.queues.size(); ++n) {
    const OrderQueue& queue = problem.queues[n];
    time += static_cast<double>(queue.duration);
    if (queue.kind != OpKind::kForward) continue;
    bytes += static_cast<double>(queue.at_begin);
    for (std::int32_t k = 0; queue.at_begin > 0 && k < problem.microbatches; ++k) {
      items_.push_back(problem.id(static_cast<std::int32_t>(n), k));
    }
  }
  mean_ = std::max(1.0, time / static_cast<double>(problem.queues.size()));
  if (bytes > 0) excess_price_ = mean_ * problem.stages / bytes;
}

std::size_t CopyMoves::draw(std::size_t below) {
  seed_ = splitmix64(seed_);
  return static_cast<std::size_t>(seed_ % std::max<std::size_t>(below, 1));
}

void CopyMoves::find_places(const Orders& orders) {
  std::fill(counts_.begin(), counts_.end(), 0);
  for (const std::vector<std::int32_t>& row : orders) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      places_[problem_.id(row[k], at(counts_, row[k])++)] = static_cast<std::int32_t>(k);
    }
  }
}

OrderCopies CopyMoves::lanes(const Plan& plan) {
  find_places(plan.orders);
  OrderCopies copies(plan.orders.size());
  // Twice the position of the op with whose begin a way back starts; one more where a way out follows an op's end.
  std::vector<std::vector<std::tuple<std::int32_t, std::int32_t, OrderCopy>>> keyed(plan.orders.size());
  const auto m = to_index(problem_.microbatches);
  for (const std::size_t id : items_) {
    const Leave& leave = plan.leave[id];
    if (!leave.leaves) continue;
    const auto q = static_cast<std::int32_t>(id / m);
    const auto k = static_cast<std::int32_t>(id % m);
    const OrderQueue& queue = at(problem_.queues, q);
    const std::int32_t made = places_[id];
    const std::int32_t use = places_[problem_.id(queue.follower, k)];
    const std::int32_t out = std::min(made + leave.wait, use - 1);
    const std::int32_t gate = std::max(made, use - leave.lead);
    auto& lane = at(keyed, queue.device);
    lane.emplace_back(2 * out + 1, made, OrderCopy{false, q, k, -1});
    lane.emplace_back(std::max(2 * gate, 2 * out + 1), use, OrderCopy{true, q, k, gate});
  }
  for (std::size_t d = 0; d < keyed.size(); ++d) {
    std::stable_sort(keyed[d].begin(), keyed[d].end(), [](const auto& a, const auto& b) {
      return std::pair(std::get<0>(a), std::get<1>(a)) < std::pair(std::get<0>(b), std::get<1>(b));
    });
    for (auto& entry : keyed[d]) copies[d].push_back(std::get<2>(entry));
  }
  return copies;
}

bool CopyMoves::time(Plan& plan) {
  constexpr double kCopyPrice = 1e-6;  // of an op's duration: of equal plans the one with fewer copies
  budget_.charge(price());
  const OrderCopies copies = lanes(plan);
  plan.times = time_with_copies(problem_, plan.orders, copies);
  if (!plan.times.runs) return false;
  std::size_t ways = 0;
  for (const auto& lane : copies) ways += lane.size();
  plan.value = static_cast<double>(plan.times.cost) + excess_price_ * static_cast<double>(plan.times.over) +
               kCopyPrice * mean_ * static_cast<double>(ways);
  if (plan.times.over == 0 && (!best_ || plan.times.cost < best_->cost)) {
    best_ = CopiedOrder{plan.orders, copies, plan.times.cost};
  }
  return true;
}

void CopyMoves::offer(const CopiedOrder& order) {
  if (!best_ || order.cost < best_->cost) best_ = order;
}

// The latest gate with which the activation is back in time, as the plan is timed now.
std::int32_t CopyMoves::prompt_lead(const Plan& plan, std::size_t forward) {
  const auto m = to_index(problem_.microbatches);
  const auto q = static_cast<std::int32_t>(forward / m);
  const OrderQueue& queue = at(problem_.queues, q);
  const std::vector<Nanoseconds>& begins = at(plan.times.begins, queue.device);
  const std::int32_t use = places_[problem_.id(queue.follower, static_cast<std::int32_t>(forward % m))];
  std::int32_t gate = use - 1;
  while (gate > places_[forward] && at(begins, gate) + queue.copy > at(begins, use)) --gate;
  return use - gate;
}

// What a device has made and does not need yet, and what it has fetched by then; the one whose use is furthest first.
std::vector<CopyMoves::Held> CopyMoves::held_at(const Plan& plan, std::int32_t device, Nanoseconds moment) {
  std::vector<Held> held;
  const auto m = to_index(problem_.microbatches);
  const std::vector<Nanoseconds>& begins = at(plan.times.begins, device);
  for (const std::size_t id : items_) {
    const OrderQueue& queue = problem_.queues[id / m];
    if (queue.device != device) continue;
    const Nanoseconds made = at(begins, places_[id]) + queue.duration;
    const Nanoseconds use = at(begins, places_[problem_.id(queue.follower, static_cast<std::int32_t>(id % m))]);
    const Leave& leave = plan.leave[id];
    const bool worth = leave.leaves ? leave.lead > 1 : made + queue.copy <= moment;
    if (worth && use > moment) held.push_back({id, use});
  }
  std::stable_sort(held.begin(), held.end(), [](const Held& a, const Held& b) { return a.use > b.use; });
  return held;
}

bool CopyMoves::repair(Plan& plan) {
  constexpr std::size_t kTried = 4;
  for (std::size_t round = 0; round < 3 * items_.size() && plan.times.over > 0 && !budget_.spent(); ++round) {
    std::optional<Plan> best;
    std::size_t tried = 0;
    for (const Held& held : held_at(plan, plan.times.over_on, plan.times.over_at)) {
      if (tried++ == kTried) break;
      Plan other = plan;
      find_places(plan.orders);
      Leave& leave = other.leave[held.forward];
      if (leave.leaves) {
        --leave.lead;
      } else {
        leave = {true, 0, prompt_lead(plan, held.forward)};
      }
      if (!time(other)) continue;
      if (!best || std::pair(other.times.over, other.times.cost) < std::pair(best->times.over, best->times.cost)) {
        best = std::move(other);
      }
    }
    if (!best || best->times.over >= plan.times.over) return false;
    plan = std::move(*best);
  }
  return plan.times.over == 0;
}

// All that is unused for longer than its copies take leaves, and is due back `lead` ops before its use, or just in time
// where that is 0.
void CopyMoves::send_away(Plan& plan, std::int32_t lead) {
  find_places(plan.orders);
  const auto m = to_index(problem_.microbatches);
  for (const std::size_t id : items_) {
    const OrderQueue& queue = problem_.queues[id / m];
    const std::int32_t use = places_[problem_.id(queue.follower, static_cast<std::int32_t>(id % m))];
    const std::vector<Nanoseconds>& begins = at(plan.times.begins, queue.device);
    const Nanoseconds unused = at(begins, use) - at(begins, places_[id]) - queue.duration;
    if (unused < 2 * queue.copy || use - places_[id] < 2) continue;
    plan.leave[id] = {true, 0, lead > 0 ? std::min(lead, use - places_[id]) : prompt_lead(plan, id)};
  }
}

void CopyMoves::add_start(const std::string& name, const Orders& orders) {
  Plan fresh;
  fresh.orders = orders;
  fresh.leave.resize(problem_.ops());
  if (budget_.spent() || !time(fresh)) return;
  for (const std::int32_t lead : {1, 2, 0}) {
    Plan plan = fresh;
    send_away(plan, lead);
    if (time(plan)) starts_.push_back({name, std::move(plan)});
  }
  starts_.push_back({name, std::move(fresh)});
}

void CopyMoves::repair_starts(std::int64_t leave) {
  std::stable_sort(starts_.begin(), starts_.end(),
                   [](const Start& a, const Start& b) { return a.plan.value < b.plan.value; });
  for (Start& start : starts_) {
    const bool fits = start.plan.times.over == 0;
    if (!fits && (budget_.left() <= leave || budget_.spent())) continue;
    if (fits || repair(start.plan)) {
      if (best_start_.empty() || start.plan.times.cost < best_start_cost_) {
        best_start_ = start.name;
        best_start_cost_ = start.plan.times.cost;
      }
    } else if (!failed_ || start.plan.value < failed_->value) {
      failed_ = std::move(start.plan);
    }
  }
  starts_.clear();
}

CopyMoves::Plan CopyMoves::plan_of(const CopiedOrder& order) {
  Plan plan;
  plan.orders = order.orders;
  plan.leave.resize(problem_.ops());
  find_places(plan.orders);
  for (const auto& lane : order.copies) {
    std::int32_t latest = 0;  // position after which a way out stands, of the ways back before it
    for (const OrderCopy& copy : lane) {
      const std::size_t id = problem_.id(copy.forward, copy.microbatch);
      Leave& leave = plan.leave[id];
      leave.leaves = true;
      if (copy.back) {
        latest = std::max(latest, copy.after);
        leave.lead = places_[problem_.id(at(problem_.queues, copy.forward).follower, copy.microbatch)] - copy.after;
      } else {
        leave.wait = std::max(0, latest - places_[id]);
      }
    }
  }
  return plan;
}

void CopyMoves::move_op(Plan& plan) {
  std::vector<std::int32_t>& row = plan.orders[draw(plan.orders.size())];
  if (row.size() < 2) return;
  const std::size_t from = draw(row.size());
  const std::size_t far = 1 + draw(3);
  const std::size_t to = draw(2) == 0 ? from - std::min(from, far) : std::min(row.size() - 1, from + far);
  const auto begin = row.begin();
  const auto a = static_cast<std::ptrdiff_t>(from);
  const auto b = static_cast<std::ptrdiff_t>(to);
  if (a < b) std::rotate(begin + a, begin + a + 1, begin + b + 1);
  if (b < a) std::rotate(begin + b, begin + a, begin + a + 1);
}

bool CopyMoves::change(Plan& plan) {
  const std::size_t kind = draw(100);
  if (kind < 45 || items_.empty()) {
    move_op(plan);
    return time(plan);
  }
  const std::size_t id = items_[draw(items_.size())];
  Leave& leave = plan.leave[id];
  if (!leave.leaves || kind < 70) {
    find_places(plan.orders);
    leave = leave.leaves ? Leave{} : Leave{true, 0, prompt_lead(plan, id)};
  } else if (kind < 90) {
    leave.lead = std::max<std::int32_t>(1, leave.lead + (draw(2) == 0 ? 1 : -1));
  } else {
    leave.wait = std::max<std::int32_t>(0, leave.wait + (draw(2) == 0 ? 1 : -1));
  }
  return time(plan);
}

void CopyMoves::anneal(std::int64_t plans) {
  if (!best_ && !failed_) return;
  Plan now = best_ ? plan_of(*best_) : *failed_;
  if (!time(now)) return;
  const double hot = mean_ / (rounds_++ % 2 == 0 ? 16 : 2);
  constexpr double kCold = 1e-2;  // of the first temperature
  for (std::int64_t n = 0; n < plans && !budget_.spent(); ++n) {
    const double heat = hot * std::pow(kCold, static_cast<double>(n) / static_cast<double>(plans));
    Plan next = now;
    if (!change(next)) continue;
    const double chance = static_cast<double>(draw(1U << 20U)) / (1U << 20U);
    if (next.value <= now.value || chance < std::exp((now.value - next.value) / heat)) now = std::move(next);
  }
}

void CopyMoves::drop_idle_copies(OrderBudget more) {
  if (!best_) return;
  Plan plan = plan_of(*best_);
  const Nanoseconds cost = best_->cost;
  if (!time(plan) || plan.times.over > 0 || plan.times.cost > cost) return;
  for (const std::size_t id : items_) {
    if (!plan.leave[id].leaves) continue;
    if (more.spent()) break;
    more.charge(price());
    Plan other = plan;
    other.leave[id] = {};
    if (time(other) && other.times.over == 0 && other.times.cost <= cost) plan = std::move(other);
  }
  best_ = CopiedOrder{plan.orders, lanes(plan), plan.times.cost};
}

}  // namespace debubble
