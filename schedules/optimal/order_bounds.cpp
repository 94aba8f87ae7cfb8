#include "schedules/optimal/order_bounds.hpp"

#include <algorithm>
#include <limits>

#include "sim/core/wide.hpp"

namespace debubble {

namespace {

WideUnsigned wide(std::int64_t value) { return static_cast<WideUnsigned>(value); }

// Along one microbatch's own path, by queue: when its op can begin at the earliest, and what follows its end at least.
struct PathTimes {
  std::vector<Nanoseconds> begins;
  std::vector<Nanoseconds> tails;
};

PathTimes path_times(const OrderProblem& problem) {
  PathTimes path{std::vector<Nanoseconds>(problem.queues.size(), 0),
                 std::vector<Nanoseconds>(problem.queues.size(), 0)};
  std::vector<std::int32_t> order;  // F up the stages, gradients down, each W after its I
  for (int s = 0; s < problem.stages; ++s) order.push_back(problem.queue(OpKind::kForward, s));
  for (int s = problem.stages; s-- > 0;) order.push_back(problem.queue(OpKind::kInputGrad, s));
  for (int s = 0; s < problem.stages && problem.split; ++s) order.push_back(problem.queue(OpKind::kWeightGrad, s));
  for (const std::int32_t q : order) {
    const OrderQueue& queue = at(problem.queues, q);
    Nanoseconds begin = 0;
    if (queue.feeder >= 0)
      begin = at(path.begins, queue.feeder) + at(problem.queues, queue.feeder).duration + queue.lag;
    if (queue.needs >= 0)
      begin = std::max(begin, at(path.begins, queue.needs) + at(problem.queues, queue.needs).duration);
    at(path.begins, q) = begin;
  }
  for (std::size_t n = order.size(); n-- > 0;) {
    const OrderQueue& queue = at(problem.queues, order[n]);
    Nanoseconds tail = -at(problem.offsets, queue.device);
    for (const std::int32_t user : {queue.consumer, queue.follower}) {
      if (user < 0) continue;
      const OrderQueue& next = at(problem.queues, user);
      tail = std::max(tail, (user == queue.consumer ? next.lag : 0) + next.duration + at(path.tails, user));
    }
    at(path.tails, order[n]) = tail;
  }
  return path;
}

class DeviceBounds {
 public:
  DeviceBounds(const OrderProblem& problem, OrderBound& best)
      : problem_(problem), path_(path_times(problem)), best_(best) {}

  void add(int device) {
    name_ = "device " + std::to_string(device);
    device_ = device;
    head_ = first_ = std::numeric_limits<Nanoseconds>::max();
    Nanoseconds tail = head_;
    work_ = 0;
    for (const std::int32_t q : at(problem_.of_device, device)) {
      const OrderQueue& queue = at(problem_.queues, q);
      head_ = std::min(head_, at(path_.begins, q));
      tail = std::min(tail, at(path_.tails, q));
      work_ += queue.duration * problem_.microbatches;
      if (queue.kind != OpKind::kForward) first_ = std::min(first_, at(path_.begins, q));
    }
    offer(head_ + work_ + tail, name_ + " has no time to spare after its first input");
    offer(first_ + work_ - forwards_before_first() + tail, name_ + " cannot do more before its first gradient arrives");
    for (const std::int32_t q : at(problem_.of_device, device)) add_drain(q);
    add_memory();
    add_last_turn();
    for (const std::int32_t q : at(problem_.of_device, device)) {
      if (at(problem_.queues, q).kind == OpKind::kForward) add_turns(q);
    }
  }

  // Bytes x time where activations may leave: from its begin to the end of its gradient each one is either at home or
  // away, and while it is made, copied out, copied back and used it is at home. A device's lane carries no more than
  // its time allows. In floating point, rounded down by more than its error.
  void add_copied_memory(int device) {
    const auto limit = static_cast<double>(at(problem_.limits, device));
    if (limit <= 0) return;
    Nanoseconds head = std::numeric_limits<Nanoseconds>::max();
    double home = 0;   // bytes x time if nothing leaves
    double least = 0;  // if everything does
    double rate = 0;   // what leaves, by the time of its copies
    for (const std::int32_t q : at(problem_.of_device, device)) {
      const OrderQueue& queue = at(problem_.queues, q);
      head = std::min(head, at(path_.begins, q));
      if (queue.kind == OpKind::kWeightGrad) {
        home += static_cast<double>(-queue.at_end) * static_cast<double>(queue.duration);
        least += static_cast<double>(-queue.at_end) * static_cast<double>(queue.duration);
      }
      if (queue.kind != OpKind::kForward) continue;
      const Nanoseconds trip = round_trip(q);
      const Nanoseconds stay = queue.duration + 2 * queue.copy + at(problem_.queues, queue.follower).duration;
      const auto bytes = static_cast<double>(queue.at_begin);
      home += bytes * static_cast<double>(trip);
      least += bytes * static_cast<double>(std::min(trip, stay));
      if (trip <= stay) continue;
      const double freed = bytes * static_cast<double>(trip - stay);
      rate = std::max(rate, queue.copy == 0 ? std::numeric_limits<double>::infinity()
                                            : freed / (2 * static_cast<double>(queue.copy)));
    }
    const double most = std::max(home / (limit + rate), least / limit) * problem_.microbatches;
    constexpr double kFarTooLong = 4e18;
    const auto time = static_cast<Nanoseconds>(std::min(most * (1 - 1e-9), kFarTooLong));
    offer(head + time - at(problem_.offsets, device),
          "device " + std::to_string(device) + " has too little memory, and its lane to the host too little time");
  }

 private:
  void offer(Nanoseconds cost, const std::string& because) {
    if (cost > best_.cost) best_ = {cost, because};
  }

  // Before the first gradient nothing gives memory back: the most time that forwards within the limit may take. Ops
  // that hold nothing are free; of the others the time per byte decides, the last one cut where it does not fit.
  [[nodiscard]] Nanoseconds forwards_before_first() const {
    std::vector<const OrderQueue*> forwards;
    for (const std::int32_t q : at(problem_.of_device, device_)) {
      if (at(problem_.queues, q).kind == OpKind::kForward) forwards.push_back(&at(problem_.queues, q));
    }
    std::sort(forwards.begin(), forwards.end(), [](const OrderQueue* a, const OrderQueue* b) {
      return wide(a->duration) * wide(b->at_begin) > wide(b->duration) * wide(a->at_begin);
    });
    Bytes room = at(problem_.limits, device_);
    Nanoseconds time = 0;
    for (const OrderQueue* forward : forwards) {
      const Bytes all = forward->at_begin * problem_.microbatches;
      if (all <= room) {
        time += forward->duration * problem_.microbatches;
        room -= all;
        continue;
      }
      if (forwards.size() == 1) return forward->duration * (room / forward->at_begin);
      // Durations are whole: so is what fits, at most this rounded down.
      return time + static_cast<Nanoseconds>(wide(forward->duration) * wide(room) / wide(forward->at_begin));
    }
    return time;
  }

  // All that has to precede the last op of a queue, which has a way to go from there.
  void add_drain(std::int32_t last) {
    const OrderQueue& queue = at(problem_.queues, last);
    if (queue.kind == OpKind::kWeightGrad) return;
    Nanoseconds work = 0;
    for (const std::int32_t q : at(problem_.of_device, device_)) {
      const OrderQueue& other = at(problem_.queues, q);
      const bool forward = other.kind == OpKind::kForward;
      const bool needed = queue.kind == OpKind::kForward
                              ? forward && other.stage <= queue.stage
                              : forward || (other.kind == queue.kind && other.stage >= queue.stage);
      if (needed) work += other.duration * problem_.microbatches;
    }
    offer(head_ + work + at(path_.tails, last), name_ + " has work until its last pass, which others wait for");
    if (queue.kind == OpKind::kForward) return;
    // Between the first gradient's arrival and the last one's end.
    offer(first_ + work - forwards_before_first() + at(path_.tails, last),
          name_ + " cannot do more before its first gradient arrives");
  }

  // From the start of F to the end of the gradient an activation is held, from there to the end of W a part of it.
  [[nodiscard]] Nanoseconds round_trip(std::int32_t forward) const {
    const std::int32_t gradient = at(problem_.queues, forward).follower;
    return at(path_.begins, gradient) + at(problem_.queues, gradient).duration - at(path_.begins, forward);
  }

  void add_memory() {
    const Bytes limit = at(problem_.limits, device_);
    if (limit <= 0) return;
    WideUnsigned sum = 0;
    for (const std::int32_t q : at(problem_.of_device, device_)) {
      const OrderQueue& queue = at(problem_.queues, q);
      if (queue.kind == OpKind::kForward) sum += wide(queue.at_begin) * wide(round_trip(q));
      if (queue.kind == OpKind::kWeightGrad) sum += wide(-queue.at_end) * wide(queue.duration);
    }
    const WideUnsigned time = (sum * wide(problem_.microbatches) + wide(limit) - 1) / wide(limit);
    offer(head_ + static_cast<Nanoseconds>(time) - at(problem_.offsets, device_),
          name_ + " has too little memory for more microbatches at once");
  }

  // The most work that can be left on the device when the last forward of its highest stage begins, that one included:
  // no other forward is left then, and what was run forward but not backward, or not yet W, takes memory.
  [[nodiscard]] Nanoseconds left_after_last_forward(const OrderQueue& forward) const {
    Bytes room = at(problem_.limits, device_);
    struct Item {
      Nanoseconds time = 0;
      Bytes bytes = 0;
    };
    std::vector<Item> items;
    for (const std::int32_t q : at(problem_.of_device, device_)) {
      const OrderQueue& queue = at(problem_.queues, q);
      if (queue.kind != OpKind::kForward) continue;
      const OrderQueue& gradient = at(problem_.queues, queue.follower);
      const Nanoseconds weights = gradient.follower < 0 ? 0 : at(problem_.queues, gradient.follower).duration;
      const Bytes held = gradient.follower < 0 ? 0 : -at(problem_.queues, gradient.follower).at_end;
      items.push_back({gradient.duration + weights, queue.at_begin});
      if (weights > 0) items.push_back({weights, held});
    }
    std::sort(items.begin(), items.end(),
              [](const Item& a, const Item& b) { return wide(a.time) * wide(b.bytes) > wide(b.time) * wide(a.bytes); });
    // By time per byte, the last one cut where it does not fit; no more of each than there are microbatches.
    Nanoseconds time = 0;
    for (const Item& item : items) {
      const Bytes all = item.bytes * problem_.microbatches;
      if (all <= room) {
        time += item.time * problem_.microbatches;
        room -= all;
        continue;
      }
      time += static_cast<Nanoseconds>(wide(item.time) * wide(room) / wide(item.bytes));
      break;
    }
    return time + forward.duration;
  }

  // The same for a single stage, where in whole microbatches it is less.
  [[nodiscard]] Nanoseconds left_on_single_stage(const OrderQueue& forward) const {
    const OrderQueue& gradient = at(problem_.queues, forward.follower);
    const bool split = gradient.follower >= 0;
    const Nanoseconds weights = split ? at(problem_.queues, gradient.follower).duration : 0;
    const Bytes held = split ? -at(problem_.queues, gradient.follower).at_end : 0;
    const Bytes limit = at(problem_.limits, device_);
    Nanoseconds most = 0;
    for (std::int64_t pending = 1; pending <= problem_.microbatches; ++pending) {
      const Bytes room = limit - pending * forward.at_begin;
      if (room < 0) break;
      std::int64_t late = problem_.microbatches - pending;
      if (held > 0) late = std::min(late, room / held);
      most = std::max(most, pending * (gradient.duration + weights) + late * weights);
    }
    return forward.duration + most;
  }

  // Where not all microbatches fit, the last forward begins after the first gradient. What can be left then is limited,
  // but the way of that microbatch up and down again takes its time.
  void add_last_turn() {
    const OrderQueue* last = nullptr;
    std::int32_t number = -1;
    bool single = true;
    for (const std::int32_t q : at(problem_.of_device, device_)) {
      const OrderQueue& queue = at(problem_.queues, q);
      if (queue.kind != OpKind::kForward) continue;
      single = last == nullptr;
      last = &queue;
      number = q;
    }
    if (last == nullptr || last->at_begin * problem_.microbatches <= at(problem_.limits, device_)) return;
    const Nanoseconds left = single ? left_on_single_stage(*last) : left_after_last_forward(*last);
    const Nanoseconds way = last->duration + at(path_.tails, number);
    offer(first_ + work_ - forwards_before_first() + std::max(-at(problem_.offsets, device_), way - left),
          name_ + " has too little memory to keep busy while the first and the last microbatch are away");
  }

  // With room for n microbatches, F of k + n begins after the gradient of k has ended; and, where its W still holds
  // what the new one needs, after that W or after the next gradient, for one of them has to give memory back.
  void add_turns(std::int32_t forward) {
    const OrderQueue& queue = at(problem_.queues, forward);
    if (queue.at_begin <= 0) return;
    const Bytes limit = at(problem_.limits, device_);
    const std::int64_t room = limit / queue.at_begin;
    if (room <= 0) return;
    const OrderQueue& gradient = at(problem_.queues, queue.follower);
    Nanoseconds turn = round_trip(forward);
    if (gradient.follower >= 0) {
      const OrderQueue& weights = at(problem_.queues, gradient.follower);
      const bool has_to_go = limit - room * queue.at_begin < -weights.at_end;
      if (has_to_go) turn += room == 1 ? weights.duration : std::min(weights.duration, gradient.duration);
    }
    const std::int64_t last = problem_.microbatches - 1;
    const Nanoseconds begin = at(path_.begins, forward) + last / room * turn + last % room * queue.duration;
    offer(begin + queue.duration + at(path_.tails, forward),
          name_ + " has too little memory for more microbatches at once");
  }

  const OrderProblem& problem_;
  PathTimes path_;
  OrderBound& best_;
  std::string name_;
  int device_ = 0;
  Nanoseconds head_ = 0;   // arrival of the device's first input
  Nanoseconds first_ = 0;  // of its first gradient
  Nanoseconds work_ = 0;
};

}  // namespace

OrderBound order_bound(const OrderProblem& problem) {
  OrderBound best{std::numeric_limits<Nanoseconds>::min(), ""};
  DeviceBounds bounds(problem, best);
  for (int d = 0; d < problem.devices; ++d) bounds.add(d);
  return best;
}

OrderBound copied_memory_bound(const OrderProblem& problem) {
  OrderBound best{std::numeric_limits<Nanoseconds>::min(), ""};
  DeviceBounds bounds(problem, best);
  for (int d = 0; d < problem.devices; ++d) bounds.add_copied_memory(d);
  return best;
}

}  // namespace debubble
