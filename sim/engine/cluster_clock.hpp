// ClusterClock: the time of a run in the order of events, and the events to come. Internal to sim/engine.
#pragma once

#include <cstdint>

#include "sim/engine/event_queue.hpp"

namespace debubble {

struct ClusterClock {
  Nanoseconds now = 0;
  EventQueue queue;

  void schedule(Nanoseconds at, Event::Kind kind, std::int32_t index, int replica = 0) {
    queue.push({at, {kind, replica, static_cast<std::uint32_t>(index)}});
  }
};

}  // namespace debubble
