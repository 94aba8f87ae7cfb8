// The critical path, part by part: what the step is made of, and so what would have to become shorter.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/core/step_work.hpp"
#include "sim/core/timeline.hpp"
#include "sim/core/units.hpp"

namespace debubble {

inline constexpr std::size_t kStepKinds = static_cast<std::size_t>(StepTask::Kind::kOther) + 1;

// Times on the path; all of them together are the makespan exactly.
struct PathParts {
  std::vector<Nanoseconds> compute;  // by device: ops, as long as their stages cost
  Nanoseconds straggled = 0;         // ops beyond what their stages cost
  Nanoseconds slowed = 0;            // ops, because collectives overlapped them
  Nanoseconds latency = 0;           // of transfers
  Nanoseconds bandwidth = 0;
  Nanoseconds contention = 0;
  Nanoseconds copies = 0;    // of activations that were moved away
  Nanoseconds barriers = 0;  // of a split output layer
  std::array<Nanoseconds, kStepKinds> step{};
  Nanoseconds replicas = 0;  // waiting for another replica of the pipeline
  Nanoseconds gaps = 0;      // launch gaps of measured runs
};

[[nodiscard]] PathParts path_parts(const Timeline& timeline);

}  // namespace debubble
