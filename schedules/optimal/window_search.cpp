#include "schedules/optimal/window_search.hpp"

#include <algorithm>
#include <limits>

#include "sim/core/splitmix.hpp"

namespace debubble {

namespace {

constexpr Nanoseconds kNoEnd = std::numeric_limits<Nanoseconds>::max() / 2;

}  // namespace

WindowSearch::WindowSearch(const OrderProblem& problem)
    : problem_(problem),
      counts_(problem.queues.size()),
      until_(problem.queues.size()),
      first_(problem.queues.size()),
      ends_(problem.ops()),
      tails_(problem.ops()),
      free_(to_index(problem.devices)),
      after_(free_.size()),
      work_(free_.size()),
      soonest_(free_.size()),
      memory_(free_.size()),
      blocked_(free_.size()),
      slot_(problem.queues.size()),
      drains_(free_.size()) {
  for (const auto& queues : problem.of_device) {
    for (std::size_t k = 0; k < queues.size(); ++k) at(slot_, queues[k]) = static_cast<std::int32_t>(k);
  }
}

WindowResult WindowSearch::search(const Orders& orders, const OrderTimes& times, const WindowChoice& choice,
                                  OrderBudget& budget) {
  open(orders, times, choice);
  budget_ = &budget;
  times_ = &times;
  branch(-kNoEnd, -kNoEnd);
  WindowResult result;
  result.found = found_;
  result.complete = !cut_short_;
  result.cost = below_;
  if (!found_) return result;
  // The rows: what precedes the window, the window anew, what follows it.
  result.orders = orders;
  std::vector<std::size_t> next(orders.size(), 0);
  for (std::size_t d = 0; d < orders.size(); ++d) {
    std::size_t begin = 0;
    for (const std::int32_t q : problem_.of_device[d]) begin += to_index(at(first_, q));
    next[d] = begin;
  }
  for (const std::int32_t q : best_) {
    const std::int32_t d = at(problem_.queues, q).device;
    at(at(result.orders, d), at(next, d)++) = q;
  }
  return result;
}

void WindowSearch::open(const Orders& orders, const OrderTimes& times, const WindowChoice& choice) {
  ends_ = times.ends();
  below_ = choice.below;
  nodes_ = choice.nodes;
  cut_short_ = found_ = false;
  total_ = choice.to - choice.from;
  path_.clear();
  best_.clear();
  seen_.clear();
  states_.clear();
  if (candidates_.size() < total_ + 1) candidates_.resize(total_ + 1);
  std::fill(counts_.begin(), counts_.end(), 0);
  std::fill(blocked_.begin(), blocked_.end(), 0);
  std::fill(work_.begin(), work_.end(), 0);
  const auto m = to_index(problem_.microbatches);
  for (std::size_t n = 0; n < choice.from; ++n) ++counts_[to_index(times.sequence()[n]) / m];
  first_ = counts_;
  until_ = counts_;
  active_.clear();
  for (std::size_t n = choice.from; n < choice.to; ++n) ++until_[to_index(times.sequence()[n]) / m];
  for (std::size_t d = 0; d < free_.size(); ++d) {
    std::size_t begin = 0;
    std::size_t end = 0;
    memory_[d] = 0;
    for (const std::int32_t q : problem_.of_device[d]) {
      begin += to_index(at(first_, q));
      end += to_index(at(until_, q));
      const OrderQueue& queue = at(problem_.queues, q);
      work_[d] += (at(until_, q) - at(first_, q)) * queue.duration;
      memory_[d] += at(first_, q) * (queue.at_begin + queue.at_end);
    }
    if (end > begin) active_.push_back(static_cast<std::int32_t>(d));
    free_[d] = 0;
    if (begin > 0) {
      const std::int32_t q = orders[d][begin - 1];
      free_[d] = ends_[problem_.id(q, at(first_, q) - 1)];
    }
    after_[d] = -problem_.offsets[d];
    if (end < orders[d].size()) {
      const std::int32_t q = orders[d][end];
      after_[d] = at(problem_.queues, q).duration + times.tails()[problem_.id(q, at(until_, q))];
    }
  }
  add_window_tails(times, choice);
  add_drains();
}

void WindowSearch::add_window_tails(const OrderTimes& times, const WindowChoice& choice) {
  const auto m = to_index(problem_.microbatches);
  for (std::size_t n = choice.to; n-- > choice.from;) {
    const auto id = to_index(times.sequence()[n]);
    const OrderQueue& queue = problem_.queues[id / m];
    const auto microbatch = static_cast<std::int32_t>(id % m);
    Nanoseconds tail = at(after_, queue.device);
    for (const std::int32_t user : {queue.consumer, queue.follower}) {
      if (user < 0) continue;
      const OrderQueue& next = at(problem_.queues, user);
      const Nanoseconds lag = user == queue.consumer ? next.lag : 0;
      const std::size_t other = problem_.id(user, microbatch);
      const bool inside = microbatch < at(until_, user);
      tail = std::max(tail, lag + next.duration + (inside ? tails_[other] : times.tails()[other]));
    }
    tails_[id] = tail;
  }
}

// Before the last op of a gradient queue its device runs every forward of microbatches up to that one, and every
// gradient of them on later stages.
void WindowSearch::add_drains() {
  for (const std::int32_t d : active_) {
    std::vector<Drain>& drains = at(drains_, d);
    drains.clear();
    for (const std::int32_t last : at(problem_.of_device, d)) {
      const OrderQueue& queue = at(problem_.queues, last);
      if (at(until_, last) == at(first_, last)) continue;
      Drain drain;
      const std::int32_t end = at(until_, last);
      drain.tail = tails_[problem_.id(last, end - 1)];
      for (const std::int32_t q : at(problem_.of_device, d)) {
        const OrderQueue& other = at(problem_.queues, q);
        const bool forward = other.kind == OpKind::kForward;
        const bool needed = q == last || (queue.kind == OpKind::kForward      ? forward && other.stage <= queue.stage
                                          : forward                           ? true
                                          : other.kind == OpKind::kWeightGrad ? false
                                                                              : other.stage >= queue.stage);
        if (needed) drain.needed.push_back({q, std::min(end, at(until_, q))});
      }
      drains.push_back(drain);
    }
  }
}

Nanoseconds WindowSearch::arrival(std::int32_t queue) const {
  const OrderQueue& q = at(problem_.queues, queue);
  const Nanoseconds begin = at(free_, q.device);
  if (q.feeder < 0) return begin;
  return std::max(begin, ends_[problem_.id(q.feeder, at(counts_, queue))] + q.lag);
}

bool WindowSearch::can_begin(std::int32_t queue) const {
  const std::int32_t next = at(counts_, queue);
  if (next >= at(until_, queue)) return false;
  const OrderQueue& q = at(problem_.queues, queue);
  if (q.needs >= 0 && at(counts_, q.needs) <= next) return false;
  if (q.feeder >= 0 && at(counts_, q.feeder) <= next) return false;
  const std::uint64_t blocked = at(blocked_, q.device);
  if (blocked != 0 && (blocked >> static_cast<unsigned>(at(slot_, queue)) & 1U) != 0) return false;
  const Bytes begin = at(memory_, q.device) + q.at_begin;
  return std::max(begin, begin + q.at_end) <= at(problem_.limits, q.device);
}

// The device with the earliest possible end of a next op. False where no device can run anything.
bool WindowSearch::choose_device(Nanoseconds& completion, std::int32_t& device) {
  completion = kNoEnd;
  for (const std::int32_t d : active_) {
    at(soonest_, d) = kNoEnd;
    for (const std::int32_t q : at(problem_.of_device, d)) {
      if (!can_begin(q)) continue;
      const Nanoseconds begin = arrival(q);
      at(soonest_, d) = std::min(at(soonest_, d), begin);
      if (begin + at(problem_.queues, q).duration >= completion) continue;
      completion = begin + at(problem_.queues, q).duration;
      device = d;
    }
  }
  return completion < kNoEnd;
}

// Whatever comes next on a device begins no sooner than what could begin there now, or than what an op that is not done
// yet makes for it: that ends at `completion` at the earliest.
bool WindowSearch::too_late(Nanoseconds completion) {
  for (const std::int32_t d : active_) {
    if (at(work_, d) == 0) continue;
    const Nanoseconds begin = std::max(at(free_, d), std::min(at(soonest_, d), completion));
    if (begin + at(work_, d) + at(after_, d) >= below_) return true;
    for (const Drain& drain : at(drains_, d)) {
      Nanoseconds work = 0;
      for (const Needed& needed : drain.needed) {
        const std::int32_t more = needed.until - at(counts_, needed.queue);
        if (more > 0) work += more * at(problem_.queues, needed.queue).duration;
      }
      if (work > 0 && begin + work + drain.tail >= below_) return true;
    }
  }
  return false;
}

// Compares with nodes at which the same ops were done: worth nothing where one of them was no later anywhere.
bool WindowSearch::seen_better(Nanoseconds left) {
  constexpr std::size_t kMostStates = std::size_t{1} << 23;
  constexpr std::size_t kMostAlike = 24;
  state_.clear();
  std::uint64_t key = 0;
  for (const std::int32_t d : active_) {
    state_.push_back(static_cast<Nanoseconds>(at(blocked_, d)));
    key = splitmix64(key ^ at(blocked_, d));
    for (const std::int32_t q : at(problem_.of_device, d)) {
      state_.push_back(at(counts_, q));
      key = splitmix64(key ^ static_cast<std::uint64_t>(at(counts_, q)));
    }
  }
  const std::size_t exact = state_.size();
  state_.push_back(left);
  for (const std::int32_t d : active_) {
    state_.push_back(at(free_, d));
    for (const std::int32_t q : at(problem_.of_device, d)) {
      const OrderQueue& queue = at(problem_.queues, q);
      if (queue.feeder < 0) continue;
      const std::int32_t end = std::min(at(counts_, queue.feeder), at(until_, q));
      for (std::int32_t k = at(counts_, q); k < end; ++k) {
        state_.push_back(std::max(at(free_, d), ends_[problem_.id(queue.feeder, k)] + queue.lag));
      }
    }
  }
  std::vector<std::size_t>& alike = seen_[key];
  for (const std::size_t offset : alike) {
    const Nanoseconds* other = &states_[offset];
    if (!std::equal(state_.begin(), state_.begin() + static_cast<std::ptrdiff_t>(exact), other)) continue;
    bool earlier = true;
    for (std::size_t k = exact; k < state_.size() && earlier; ++k) earlier = other[k] <= state_[k];
    if (earlier) return true;
  }
  if (alike.size() < kMostAlike && states_.size() + state_.size() < kMostStates) {
    alike.push_back(states_.size());
    states_.insert(states_.end(), state_.begin(), state_.end());
  }
  return false;
}

// Whether an op that takes memory might better be run after one that is not there yet: only where another op of the
// device may take memory in between.
bool WindowSearch::may_hold_back(std::int32_t device, const std::vector<Candidate>& next) const {
  const auto takes = [this](std::int32_t q) {
    const OrderQueue& queue = at(problem_.queues, q);
    return queue.at_begin + std::max<Bytes>(queue.at_end, 0) > 0;
  };
  bool some = false;
  for (const Candidate& candidate : next) some = some || takes(candidate.queue);
  if (!some) return false;
  Bytes most = at(memory_, device);
  std::size_t takers = 0;
  for (const std::int32_t q : at(problem_.of_device, device)) {
    const OrderQueue& queue = at(problem_.queues, q);
    const std::int32_t more = at(until_, q) - at(counts_, q);
    if (more > 0 && takes(q)) ++takers;
    most += more * (queue.at_begin + std::max<Bytes>(queue.at_end, 0));
  }
  return takers > 1 && most > at(problem_.limits, device);
}

void WindowSearch::branch(Nanoseconds cost, Nanoseconds left) {
  if (path_.size() == total_) {
    record(cost);
    return;
  }
  if (nodes_ <= 0 || !budget_->take()) {
    cut_short_ = true;
    return;
  }
  --nodes_;
  Nanoseconds completion = 0;
  std::int32_t device = 0;
  if (!choose_device(completion, device) || too_late(completion)) return;
  if (total_ > 8 && seen_better(left)) return;
  std::vector<Candidate>& next = candidates_[path_.size()];
  next.clear();
  for (const std::int32_t q : at(problem_.of_device, device)) {
    if (!can_begin(q)) continue;
    const Nanoseconds begin = arrival(q);
    if (begin < completion || begin + at(problem_.queues, q).duration == completion) next.push_back({q, begin});
  }
  const auto urgency = [this](const Candidate& c) {
    return at(problem_.queues, c.queue).duration + tails_[problem_.id(c.queue, at(counts_, c.queue))];
  };
  std::stable_sort(next.begin(), next.end(),
                   [&](const Candidate& a, const Candidate& b) { return urgency(a) > urgency(b); });
  const bool hold_back = may_hold_back(device, next);
  for (std::size_t k = 0; k < next.size() && !cut_short_; ++k) run(next[k], cost, left);
  if (!hold_back || cut_short_) return;
  if (at(problem_.of_device, device).size() > 64) {  // the branch that holds back is left out: no proof
    cut_short_ = true;
    return;
  }
  std::uint64_t mask = 0;
  for (const Candidate& candidate : next) mask |= std::uint64_t{1} << static_cast<unsigned>(at(slot_, candidate.queue));
  const std::uint64_t before = at(blocked_, device);
  at(blocked_, device) |= mask;
  branch(cost, left);  // of the same depth: it overwrites `next`
  at(blocked_, device) = before;
}

void WindowSearch::run(const Candidate& next, Nanoseconds cost, Nanoseconds left) {
  const OrderQueue& queue = at(problem_.queues, next.queue);
  const auto d = to_index(queue.device);
  const std::size_t id = problem_.id(next.queue, at(counts_, next.queue));
  const Nanoseconds end = next.begin + queue.duration;
  if (end + tails_[id] >= below_) return;
  const Nanoseconds free = free_[d];
  const Nanoseconds old_end = ends_[id];
  const Bytes memory = memory_[d];
  const std::uint64_t blocked = blocked_[d];
  free_[d] = ends_[id] = end;
  memory_[d] += queue.at_begin + queue.at_end;
  work_[d] -= queue.duration;
  blocked_[d] = 0;
  ++at(counts_, next.queue);
  path_.push_back(next.queue);
  branch(std::max(cost, end + tails_[id]), std::max(left, leaves(next.queue, at(counts_, next.queue) - 1, end)));
  path_.pop_back();
  --at(counts_, next.queue);
  blocked_[d] = blocked;
  work_[d] += queue.duration;
  memory_[d] = memory;
  ends_[id] = old_end;
  free_[d] = free;
}

// What an op costs through a user that follows the window: no later state tells it.
Nanoseconds WindowSearch::leaves(std::int32_t queue, std::int32_t microbatch, Nanoseconds end) const {
  const std::int32_t user = at(problem_.queues, queue).consumer;
  if (user < 0 || microbatch < at(until_, user)) return -kNoEnd;
  const OrderQueue& next = at(problem_.queues, user);
  return end + next.lag + next.duration + times_->tails()[problem_.id(user, microbatch)];
}

void WindowSearch::record(Nanoseconds cost) {
  if (cost >= below_) return;
  below_ = cost;
  best_ = path_;
  found_ = true;
}

}  // namespace debubble
