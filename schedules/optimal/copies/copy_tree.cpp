#include "schedules/optimal/copies/copy_tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace debubble {

namespace {

constexpr std::size_t kMostStored = std::size_t{1} << 27;  // bytes of nodes that are remembered

}  // namespace

CopyTree::CopyTree(const OrderProblem& problem)
    : problem_(problem),
      tails_(problem.ops(), 0),
      counts_(problem.queues.size(), 0),
      places_(problem.ops(), 0),
      ends_(problem.ops(), 0),
      backs_(problem.ops(), 0),
      heads_(problem.ops(), 0),
      away_(problem.ops(), Away::kNever),
      devices_(to_index(problem.devices)) {
  for (int s = 0; s < problem.stages; ++s) queues_.push_back(problem.queue(OpKind::kForward, s));
  for (int s = problem.stages; s-- > 0;) queues_.push_back(problem.queue(OpKind::kInputGrad, s));
  for (int s = 0; problem.split && s < problem.stages; ++s) {
    queues_.push_back(problem.queue(OpKind::kWeightGrad, s));
  }
  for (std::size_t n = queues_.size(); n-- > 0;) {
    const OrderQueue& queue = at(problem.queues, queues_[n]);
    for (std::int32_t k = problem.microbatches; k-- > 0;) {
      Nanoseconds tail = -at(problem.offsets, queue.device);
      if (k + 1 < problem.microbatches) tail = std::max(tail, queue.duration + tails_[problem.id(queues_[n], k + 1)]);
      for (const std::int32_t user : {queue.consumer, queue.follower}) {
        if (user < 0) continue;
        const OrderQueue& next = at(problem.queues, user);
        const Nanoseconds lag = user == queue.consumer ? next.lag : 0;
        tail = std::max(tail, lag + next.duration + tails_[problem.id(user, k)]);
      }
      tails_[problem.id(queues_[n], k)] = tail;
    }
  }
}

bool CopyTree::applies(const OrderProblem& problem) {
  return std::all_of(problem.queues.begin(), problem.queues.end(), [](const OrderQueue& queue) {
    const bool copied = queue.kind == OpKind::kForward && queue.at_begin > 0;
    return queue.duration > 0 && queue.at_end <= 0 && (!copied || queue.copy > 0);
  });
}

CopyTree::Result CopyTree::search(Nanoseconds below, OrderBudget& budget) {
  result_ = {};
  seen_.clear();
  stored_ = 0;
  below_ = below;
  budget_ = &budget;
  cut_short_ = false;
  branch();
  result_.complete = !cut_short_;
  return std::move(result_);
}

Bytes CopyTree::held(std::int32_t device, Nanoseconds time) const {
  Bytes held = 0;
  for (const Taken& taken : at(devices_, device).taken) {
    if (taken.time <= time) held += taken.bytes;
  }
  return held;
}

bool CopyTree::fits(std::int32_t device, Nanoseconds time, Bytes more) const {
  return more <= 0 || held(device, time) + more <= at(problem_.limits, device);
}

Nanoseconds CopyTree::begin_of(std::int32_t queue) const {
  const OrderQueue& q = at(problem_.queues, queue);
  const std::int32_t k = at(counts_, queue);
  if (q.needs >= 0 && at(counts_, q.needs) <= k) return -1;
  Nanoseconds begin = at(devices_, q.device).free;
  if (q.feeder >= 0) {
    if (at(counts_, q.feeder) <= k) return -1;
    begin = std::max(begin, ends_[problem_.id(q.feeder, k)] + q.lag);
  }
  if (q.kind == OpKind::kForward || q.kind == OpKind::kWeightGrad) return begin;
  const std::size_t forward = problem_.id(q.needs, k);
  if (away_[forward] == Away::kOut) return -1;
  return away_[forward] == Away::kBack ? std::max(begin, backs_[forward]) : begin;
}

void CopyTree::add_candidates(std::vector<Step>& steps) const {
  steps.clear();
  for (const std::int32_t q : queues_) {
    const OrderQueue& queue = at(problem_.queues, q);
    if (at(counts_, q) < problem_.microbatches) {
      const Nanoseconds begin = begin_of(q);
      if (begin >= now_ && fits(queue.device, begin, queue.at_begin)) {
        steps.push_back({What::kOp, q, at(counts_, q), -1, begin});
      }
    }
    if (queue.kind == OpKind::kForward && queue.at_begin > 0) add_ways(steps, q);
  }
  const auto rank = [this](const Step& step) {
    return step.what == What::kOp ? tails_[problem_.id(step.queue, step.microbatch)] : Nanoseconds{-1};
  };
  std::stable_sort(steps.begin(), steps.end(), [&](const Step& a, const Step& b) {
    return a.begin != b.begin ? a.begin < b.begin : rank(a) > rank(b);
  });
}

// The next ways out and back of a stage: microbatches in order.
void CopyTree::add_ways(std::vector<Step>& steps, std::int32_t forward) const {
  const OrderQueue& queue = at(problem_.queues, forward);
  const DeviceState& device = at(devices_, queue.device);
  std::int32_t returned = at(counts_, queue.follower);
  std::int32_t left = returned;  // those before it have left, stayed, or are no longer needed
  for (std::int32_t k = returned; k < at(counts_, forward); ++k) {
    const Away away = away_[problem_.id(forward, k)];
    if (away != Away::kNever) left = k + 1;
    if (away == Away::kBack) returned = k + 1;
  }
  for (std::int32_t k = left; k < at(counts_, forward); ++k) {
    const std::size_t id = problem_.id(forward, k);
    const Nanoseconds begin = std::max(device.lane, ends_[id]);
    const Nanoseconds use = begin + 2 * queue.copy + at(problem_.queues, queue.follower).duration;
    if (begin < now_ || use + tails_[problem_.id(queue.follower, k)] >= below_) continue;
    steps.push_back({What::kOut, forward, k, -1, begin});
  }
  for (std::int32_t k = returned; k < at(counts_, forward); ++k) {
    const std::size_t id = problem_.id(forward, k);
    if (away_[id] != Away::kOut) continue;
    if (device.lane >= now_ && fits(queue.device, device.lane, queue.at_begin)) {
      steps.push_back({What::kBack, forward, k, places_[id], device.lane});
    } else if (device.lane < now_ && device.last == now_ && fits(queue.device, now_, queue.at_begin)) {
      steps.push_back({What::kBack, forward, k, device.position - 1, now_});
    }
    break;
  }
}

void CopyTree::branch() {
  if (done_ == problem_.ops()) {
    record();
    return;
  }
  if (!budget_->take()) {
    cut_short_ = true;
    return;
  }
  if (hopeless() || seen()) return;
  const std::size_t depth = path_.size();
  if (steps_.size() <= depth) steps_.resize(depth + 1);
  std::vector<Step> steps = std::move(steps_[depth]);
  add_candidates(steps);
  for (std::size_t k = 0; k < steps.size() && !cut_short_; ++k) run(steps[k]);
  steps_[depth] = std::move(steps);
}

void CopyTree::run(const Step& step) {
  const OrderQueue& queue = at(problem_.queues, step.queue);
  DeviceState& device = at(devices_, queue.device);
  const std::size_t id = problem_.id(step.queue, step.microbatch);
  const Nanoseconds now = now_;
  const Nanoseconds free = device.free;
  const Nanoseconds lane = device.lane;
  const Nanoseconds last = device.last;
  const std::size_t taken = device.taken.size();
  if (step.what == What::kOp && step.begin + queue.duration + tails_[id] >= below_) return;
  now_ = step.begin;
  if (step.what == What::kOp) {
    device.last = step.begin;
    device.free = ends_[id] = step.begin + queue.duration;
    places_[id] = device.position++;
    if (queue.at_begin != 0) device.taken.push_back({step.begin, queue.at_begin});
    if (queue.at_end != 0) device.taken.push_back({device.free, queue.at_end});
    ++at(counts_, step.queue);
    ++done_;
  } else {
    device.lane = step.begin + queue.copy;
    const bool out = step.what == What::kOut;
    away_[id] = out ? Away::kOut : Away::kBack;
    if (!out) backs_[id] = device.lane;
    device.taken.push_back(out ? Taken{device.lane, -queue.at_begin} : Taken{step.begin, queue.at_begin});
  }
  path_.push_back(step);
  branch();
  path_.pop_back();
  if (step.what == What::kOp) {
    --done_;
    --at(counts_, step.queue);
    --device.position;
  } else {
    away_[id] = step.what == What::kOut ? Away::kNever : Away::kOut;
  }
  device.taken.resize(taken);
  device.last = last;
  device.lane = lane;
  device.free = free;
  now_ = now;
}

void CopyTree::record() {
  CopiedOrder order{Orders(devices_.size()), OrderCopies(devices_.size()), 0};
  for (const Step& step : path_) {
    const std::int32_t device = at(problem_.queues, step.queue).device;
    if (step.what == What::kOp) {
      at(order.orders, device).push_back(step.queue);
    } else {
      at(order.copies, device).push_back({step.what == What::kBack, step.queue, step.microbatch, step.gate});
    }
  }
  const CopiedTimes times = time_with_copies(problem_, order.orders, order.copies);
  order.cost = times.cost;
  if (!times.runs || times.over > 0 || order.cost >= below_) return;
  below_ = order.cost;
  result_.found = true;
  result_.best = std::move(order);
}

// Also whether a device has something to do that it can still come to.
bool CopyTree::find_heads() {
  constexpr Nanoseconds kNone = std::numeric_limits<Nanoseconds>::max();
  for (const std::int32_t q : queues_) {
    const OrderQueue& queue = at(problem_.queues, q);
    const DeviceState& device = at(devices_, queue.device);
    for (std::int32_t k = at(counts_, q); k < problem_.microbatches; ++k) {
      Nanoseconds head = std::max(now_, device.free);
      if (k > at(counts_, q)) head = std::max(head, heads_[problem_.id(q, k - 1)] + queue.duration);
      if (queue.feeder >= 0) {
        const std::size_t feeder = problem_.id(queue.feeder, k);
        const bool made = k < at(counts_, queue.feeder);
        const Nanoseconds end = made ? ends_[feeder] : heads_[feeder] + at(problem_.queues, queue.feeder).duration;
        head = std::max(head, end + queue.lag);
      }
      if (queue.needs >= 0) {
        const std::size_t needed = problem_.id(queue.needs, k);
        if (k >= at(counts_, queue.needs)) {
          head = std::max(head, heads_[needed] + at(problem_.queues, queue.needs).duration);
        } else if (away_[needed] == Away::kBack) {
          head = std::max(head, backs_[needed]);
        } else if (away_[needed] == Away::kOut) {
          head = std::max(head, std::max(now_, device.lane) + at(problem_.queues, queue.needs).copy);
        }
      }
      heads_[problem_.id(q, k)] = head;
    }
  }
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    bool work = false;
    bool open = false;
    Nanoseconds shortest = kNone;
    for (const std::int32_t q : problem_.of_device[d]) {
      if (at(counts_, q) == problem_.microbatches) continue;
      work = true;
      const OrderQueue& queue = at(problem_.queues, q);
      if (queue.needs >= 0 && at(counts_, queue.needs) <= at(counts_, q)) continue;
      const Nanoseconds begin = begin_of(q);
      if (begin >= 0 && begin < now_) continue;
      open = true;
      shortest = std::min(shortest, heads_[problem_.id(q, at(counts_, q))] + queue.duration);
    }
    if (work && !open) return false;
    for (const std::int32_t q : problem_.of_device[d]) {  // what has missed its time waits for another op
      if (at(counts_, q) == problem_.microbatches) continue;
      const Nanoseconds begin = begin_of(q);
      if (begin < 0 || begin >= now_) continue;
      Nanoseconds& head = heads_[problem_.id(q, at(counts_, q))];
      head = std::max(head, shortest);
    }
  }
  return true;
}

// The longest end + tail of what a device has to do if it may interrupt ops: always the ready one with the largest
// tail.
Nanoseconds CopyTree::one_machine(std::int32_t device) {
  waiting_.clear();
  for (const std::int32_t q : at(problem_.of_device, device)) {
    for (std::int32_t k = at(counts_, q); k < problem_.microbatches; ++k) {
      const std::size_t id = problem_.id(q, k);
      waiting_.push_back({heads_[id], tails_[id], at(problem_.queues, q).duration});
    }
  }
  Nanoseconds bound = at(devices_, device).free - at(problem_.offsets, device);
  std::size_t open = waiting_.size();
  Nanoseconds time = 0;
  while (open > 0) {
    Waiting* best = nullptr;
    Nanoseconds next = std::numeric_limits<Nanoseconds>::max();
    for (Waiting& job : waiting_) {
      if (job.left == 0) continue;
      if (job.head > time) {
        next = std::min(next, job.head);
      } else if (best == nullptr || job.tail > best->tail) {
        best = &job;
      }
    }
    if (best == nullptr) {
      time = next;
      continue;
    }
    const Nanoseconds part = std::min(best->left, next - time);
    time += part;
    best->left -= part;
    if (best->left > 0) continue;
    --open;
    bound = std::max(bound, time + best->tail);
  }
  return bound;
}

bool CopyTree::hopeless() {
  if (!find_heads()) return true;
  for (int d = 0; d < problem_.devices; ++d) {
    if (one_machine(d) >= below_) return true;
  }
  return false;
}

// Times before now no longer matter but for having passed.
bool CopyTree::seen() {
  const auto clipped = [this](Nanoseconds time) { return std::max(time, now_ - 1); };
  state_.assign(1, now_);
  Nanoseconds cost = 0;
  for (const std::int32_t count : counts_) state_.push_back(count);
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const DeviceState& device = devices_[d];
    cost = std::max(cost, device.free - problem_.offsets[d]);
    state_.push_back(clipped(device.free));
    state_.push_back(clipped(device.lane));
    state_.push_back(device.last == now_ ? 1 : 0);
    state_.push_back(held(static_cast<std::int32_t>(d), now_));
    const std::size_t first = state_.size();
    std::vector<std::pair<Nanoseconds, Bytes>> later;
    for (const Taken& taken : device.taken) {
      if (taken.time > now_) later.emplace_back(taken.time, taken.bytes);
    }
    std::sort(later.begin(), later.end());
    state_.push_back(0);
    for (const auto& [time, bytes] : later) {
      state_.push_back(time);
      state_.push_back(bytes);
    }
    state_[first] = static_cast<Nanoseconds>(later.size());
  }
  for (const std::int32_t q : queues_) {
    const OrderQueue& queue = at(problem_.queues, q);
    for (std::int32_t k = at(counts_, q); queue.feeder >= 0 && k < at(counts_, queue.feeder); ++k) {
      state_.push_back(clipped(ends_[problem_.id(queue.feeder, k)] + queue.lag));
    }
    if (queue.kind != OpKind::kForward) continue;
    for (std::int32_t k = at(counts_, queue.follower); k < at(counts_, q); ++k) {
      const std::size_t id = problem_.id(q, k);
      state_.push_back(static_cast<Nanoseconds>(away_[id]));
      state_.push_back(away_[id] == Away::kNever  ? clipped(ends_[id])
                       : away_[id] == Away::kBack ? clipped(backs_[id])
                                                  : 0);
    }
  }
  state_.push_back(cost >= now_ ? cost : -1);
  const std::string key(reinterpret_cast<const char*>(state_.data()), state_.size() * sizeof(Nanoseconds));
  if (stored_ > kMostStored) return seen_.contains(key);
  if (!seen_.insert(key).second) return true;
  stored_ += key.size() + 64;
  return false;
}

}  // namespace debubble
