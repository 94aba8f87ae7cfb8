// fill_bubbles: work outside the schedule - PipeFisher's K-FAC - placed where devices wait. No op moves, and the step
// stays as long as it is.
//
//     device 0   |F0|F1|a0|a1|...|B0|a b0|B1|b1|      a, b: curvature from what a forward saw, from a gradient
//
// Items in this order of preference, each into the first idle slot that holds it and 5 % more: per microbatch and stage
// curvature A once its forward has run, curvature B once its backward has; then per stage and factor the collective
// over the devices that hold the stage, all at the same time, once all of that factor's curvature is done; then the
// factor's inverse, of which each of these devices takes its part. What is left goes into the next iteration, whose
// forwards and backwards count as done. An item that no slot holds runs after an iteration, and is counted apart.
//
// Osawa, Li, Hoefler, PipeFisher, MLSys 2023, arXiv 2211.14133. The memory of the factors is not counted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// Times of one device share; a chunk takes its part.
struct ExtraWork {
  Nanoseconds curvature = 0;     // per microbatch: half of it A, half B
  Nanoseconds inverse = 0;       // per refresh: half of it A, half B
  Nanoseconds sync = 0;          // per refresh: half of it A, half B
  Nanoseconds precondition = 0;  // every step after the last backward, outside the bubbles
  int parts = 1;                 // layers of a stage: every item is that many equal ones
};

struct PlacedWork {
  enum class Kind : std::uint8_t { kCurvatureA, kCurvatureB, kSyncA, kSyncB, kInverseA, kInverseB };
  Kind kind = Kind::kCurvatureA;
  std::int32_t stage = 0;
  std::int32_t microbatch = -1;  // a piece; -1: of the whole refresh
  std::int32_t part = 0;
  std::int32_t device = 0;
  std::int32_t iteration = 0;
  Nanoseconds begin = 0;  // in its iteration
  Nanoseconds end = 0;
};
[[nodiscard]] const char* to_string(PlacedWork::Kind kind);

struct DeviceWork {
  Nanoseconds bubble = 0;   // idle in one iteration
  Nanoseconds work = 0;     // of one refresh
  Nanoseconds outside = 0;  // of that, longer than every idle slot

  [[nodiscard]] double work_over_bubble() const { return static_cast<double>(work) / static_cast<double>(bubble); }
};

struct FilledBubbles {
  std::vector<PlacedWork> items;  // by iteration, device, time
  std::vector<DeviceWork> devices;
  int iterations = 1;             // that one refresh takes
  std::optional<int> least;       // no placement takes fewer: the devices' work over their bubble; absent: no bubble
  double utilisation_before = 0;  // busy / (devices x step)
  double utilisation_after = 0;   // of the iterations of one refresh, with what was placed
  Nanoseconds precondition = 0;
};

// The timeline must be one of the schedule's.
[[nodiscard]] FilledBubbles fill_bubbles(const Timeline& timeline, const Schedule& schedule, const ExtraWork& work);

}  // namespace debubble
