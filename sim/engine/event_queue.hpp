// EventQueue: what happens next in an event-driven run. A heap with four children per node: half as deep as a binary
// one, and the children stand in one cache line. Internal to sim/engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

// Of events at one time the smaller `what` comes first, so that the order never depends on how they were added.
struct Event {
  Nanoseconds at = 0;
  std::uint64_t what = 0;

  [[nodiscard]] bool before(const Event& other) const { return at != other.at ? at < other.at : what < other.what; }
};

class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const Event& top() const { return heap_.front(); }

  void push(const Event& event) {
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kChildren;
      if (!event.before(heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
  }

  Event pop() {
    const Event first = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }

 private:
  static constexpr std::size_t kChildren = 4;

  // Puts `event` where the top was, or below.
  void sink(const Event& event) {
    std::size_t hole = 0;
    for (;;) {
      const std::size_t begin = kChildren * hole + 1;
      if (begin >= heap_.size()) break;
      const std::size_t end = std::min(begin + kChildren, heap_.size());
      std::size_t least = begin;
      for (std::size_t child = begin + 1; child < end; ++child) {
        if (heap_[child].before(heap_[least])) least = child;
      }
      if (!heap_[least].before(event)) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = event;
  }

  std::vector<Event> heap_;
};

}  // namespace debubble
