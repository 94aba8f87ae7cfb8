#include "schedules/optimal/program/copy_times.hpp"

#include <algorithm>
#include <utility>

namespace debubble {

namespace {

constexpr Nanoseconds kNotTimedYet = -1;

class CopiedRun {
 public:
  CopiedRun(const OrderProblem& problem, const Orders& orders, const OrderCopies& copies)
      : problem_(problem),
        orders_(orders),
        copies_(copies),
        begins_(problem.ops(), kNotTimedYet),
        backs_(problem.ops(), 0),
        counts_(problem.queues.size(), 0),
        devices_(orders.size()) {
    for (const auto& lane : copies) {
      for (const OrderCopy& copy : lane) {
        if (copy.back) backs_[gradient_of(copy)] = kNotTimedYet;
      }
    }
  }

  CopiedTimes run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t d = 0; d < devices_.size(); ++d) {
        while (run_op(d) || run_copy(d)) moved = true;
      }
    }
    CopiedTimes times;
    times.runs = true;
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      const DeviceState& device = devices_[d];
      if (device.ops < orders_[d].size() || device.copies < copies_[d].size()) return {};
      const Nanoseconds cost = device.free - problem_.offsets[d];
      times.cost = d == 0 ? cost : std::max(times.cost, cost);
      add_peak(d, times);
    }
    for (DeviceState& device : devices_) {
      times.begins.push_back(std::move(device.begun));
      times.copied.push_back(std::move(device.copied));
    }
    return times;
  }

 private:
  struct DeviceState {
    std::size_t ops = 0, copies = 0;
    Nanoseconds free = 0, lane = 0;
    std::vector<Nanoseconds> begun;   // by position in the row
    std::vector<Nanoseconds> copied;  // by position in the lane
    // Of copies; what is given back at a time counts before what is taken then.
    std::vector<std::pair<Nanoseconds, Bytes>> events;
  };

  [[nodiscard]] std::size_t gradient_of(const OrderCopy& copy) const {
    return problem_.id(at(problem_.queues, copy.forward).follower, copy.microbatch);
  }

  [[nodiscard]] Nanoseconds end_of(std::int32_t queue, std::int32_t microbatch) const {
    const Nanoseconds begin = begins_[problem_.id(queue, microbatch)];
    return begin == kNotTimedYet ? kNotTimedYet : begin + at(problem_.queues, queue).duration;
  }

  bool run_op(std::size_t d) {
    DeviceState& device = devices_[d];
    if (device.ops == orders_[d].size()) return false;
    const std::int32_t q = orders_[d][device.ops];
    const OrderQueue& queue = at(problem_.queues, q);
    const std::int32_t microbatch = at(counts_, q);
    const std::size_t id = problem_.id(q, microbatch);
    Nanoseconds begin = std::max(device.free, backs_[id]);
    if (backs_[id] == kNotTimedYet || (queue.needs >= 0 && at(counts_, queue.needs) <= microbatch)) return false;
    if (queue.feeder >= 0) {
      const Nanoseconds made = end_of(queue.feeder, microbatch);
      if (made == kNotTimedYet) return false;
      begin = std::max(begin, made + queue.lag);
    }
    begins_[id] = begin;
    device.begun.push_back(begin);
    device.free = begin + queue.duration;
    ++at(counts_, q);
    ++device.ops;
    return true;
  }

  bool run_copy(std::size_t d) {
    DeviceState& device = devices_[d];
    if (device.copies == copies_[d].size()) return false;
    const OrderCopy& copy = copies_[d][device.copies];
    const OrderQueue& forward = at(problem_.queues, copy.forward);
    const Nanoseconds made = end_of(copy.forward, copy.microbatch);
    if (made == kNotTimedYet) return false;
    Nanoseconds begin = std::max(device.lane, made);
    if (copy.back && copy.after >= 0) {
      if (to_index(copy.after) >= device.begun.size()) return false;
      begin = std::max(begin, at(device.begun, copy.after));
    }
    device.copied.push_back(begin);
    device.lane = begin + forward.copy;
    if (copy.back) {
      backs_[gradient_of(copy)] = device.lane;
      device.events.emplace_back(begin, forward.at_begin);
    } else {
      device.events.emplace_back(device.lane, -forward.at_begin);
    }
    ++device.copies;
    return true;
  }

  // In the engine's order (sim/engine/totals.cpp): what copies have done by an op's begin counts before the op takes
  // memory, what they do by its very end after it has given some back.
  void add_peak(std::size_t d, CopiedTimes& times) {
    DeviceState& device = devices_[d];
    std::sort(device.events.begin(), device.events.end());
    Bytes held = 0;
    Bytes most = 0;
    const auto change = [&](Nanoseconds time, Bytes bytes) {
      held += bytes;
      most = std::max(most, held);
      if (bytes <= 0 || held <= problem_.limits[d]) return;
      times.over += held - problem_.limits[d];
      if (times.over_on >= 0 && times.over_at <= time) return;
      times.over_on = static_cast<std::int32_t>(d);
      times.over_at = time;
    };
    std::size_t next = 0;
    const auto copy_until = [&](Nanoseconds time) {
      for (; next < device.events.size() && device.events[next].first <= time; ++next) {
        change(device.events[next].first, device.events[next].second);
      }
    };
    for (std::size_t k = 0; k < device.begun.size(); ++k) {
      const OrderQueue& queue = at(problem_.queues, orders_[d][k]);
      copy_until(device.begun[k]);
      change(device.begun[k], queue.at_begin);
      const Nanoseconds end = device.begun[k] + queue.duration;
      copy_until(end - 1);
      change(end, queue.at_end);
    }
    copy_until(device.lane);
    times.peaks.push_back(most);
  }

  const OrderProblem& problem_;
  const Orders& orders_;
  const OrderCopies& copies_;
  std::vector<Nanoseconds> begins_;  // by op
  std::vector<Nanoseconds> backs_;   // by op: when its activation is back; 0: it never left
  std::vector<std::int32_t> counts_;
  std::vector<DeviceState> devices_;
};

}  // namespace

CopiedTimes time_with_copies(const OrderProblem& problem, const Orders& orders, const OrderCopies& copies) {
  return CopiedRun(problem, orders, copies).run();
}

}  // namespace debubble
