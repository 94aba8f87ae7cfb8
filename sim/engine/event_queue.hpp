// EventQueue: what happens next in an event-driven run. A heap with four children per node: half as deep as a binary
// one, and the children share a cache line. Internal to sim/engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/units.hpp"
#include "sim/engine/packed_name.hpp"

namespace debubble {

struct Event {
  // Events of one instant happen in this order.
  enum class Kind : std::uint8_t {
    kFlowBegins,  // index: of a list of flows (tests/cluster/flows.hpp)
    kNetwork,     // of a flow in the network, which alone knows what the index is
    kNodeEnds,    // index: node of the program, in that replica
    kNodeBegins,  // the same
    kPhaseEnds,   // index: a step task's sequence of phases
  };

  Nanoseconds at = 0;
  PackedName<Kind> what;

  // A total order on all that tells two events apart: what happens never depends on how they were added.
  [[nodiscard]] bool before(const Event& other) const { return key() < other.key(); }

 private:
  // Time and name as one number: in a regular run most events happen at the time of another, so that a comparison in
  // two steps mispredicts between them.
  __extension__ using Key = __int128;
  [[nodiscard]] Key key() const { return Key{at} << 64 | what.packed(); }
};
static_assert(sizeof(Event) == 16, "four children of the heap fill a cache line");

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

  // The child that comes first. Of four by arithmetic, as in a tournament: which one it is cannot be predicted.
  [[nodiscard]] std::size_t first_child(std::size_t begin) const {
    const auto first_of = [&](std::size_t a, std::size_t b) {
      return a + (b - a) * static_cast<std::size_t>(heap_[b].before(heap_[a]));
    };
    if (begin + kChildren <= heap_.size()) return first_of(first_of(begin, begin + 1), first_of(begin + 2, begin + 3));
    std::size_t first = begin;
    for (std::size_t child = begin + 1; child < heap_.size(); ++child) first = first_of(first, child);
    return first;
  }

  // Puts `event` where the top was, or below.
  void sink(const Event& event) {
    std::size_t hole = 0;
    for (;;) {
      const std::size_t begin = kChildren * hole + 1;
      if (begin >= heap_.size()) break;
      const std::size_t first = first_child(begin);
      if (!heap_[first].before(event)) break;
      heap_[hole] = heap_[first];
      hole = first;
    }
    heap_[hole] = event;
  }

  std::vector<Event> heap_;
};

}  // namespace debubble
