// ThreadHistory: the innermost range of one thread over time, as far back as a bounded memory reaches.
//
//     time     10      20      30      40        slot_at(25) is b's, slot_at(35) is a's again
//     range    a ------b-------+ pop b +- pop a
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "profiler/attribution/slot.hpp"
#include "sim/core/units.hpp"

namespace debubble::attribution {

class ThreadHistory {
 public:
  static constexpr std::size_t kMostEvents = std::size_t{1} << 16;

  // From `time` on, work of this thread belongs to `slot`. Times do not decrease.
  void add(Nanoseconds time, const Slot& slot) {
    if (events_.size() < kMostEvents) {
      events_.push_back({time, slot});
      return;
    }
    events_[first_] = {time, slot};
    first_ = (first_ + 1) % kMostEvents;
  }

  // Nothing when that time is forgotten; outside of all ranges before the first one.
  [[nodiscard]] std::optional<Slot> slot_at(Nanoseconds time) const {
    const std::size_t count = events_.size();
    if (count == 0) return rest_slot(Rest::kOutsideRanges);
    if (event(count - 1).time <= time) return event(count - 1).slot;
    std::size_t low = 0;  // the first event later than `time` is in [low, high]
    std::size_t high = count - 1;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (event(middle).time <= time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low > 0) return event(low - 1).slot;
    if (count < kMostEvents) return rest_slot(Rest::kOutsideRanges);
    return std::nullopt;
  }

 private:
  struct Event {
    Nanoseconds time = 0;
    Slot slot;
  };
  [[nodiscard]] const Event& event(std::size_t index) const { return events_[(first_ + index) % events_.size()]; }

  std::vector<Event> events_;
  std::size_t first_ = 0;
};

}  // namespace debubble::attribution
