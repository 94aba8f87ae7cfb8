// StreamSelection: which executions of one stream count, and what the stream says about the measurement.
//
//     step      0      1      2      3      4      5      6      7      8
//     time     930    610    502    500    501    499    (paused)       500
//              '- warm-up --'                                  '- overhead
//
// Warm-up: the first `fixed` steps; or, to be detected, everything up to the last step of the first half in which code
// was compiled or loaded, then every further step of the first half until one whose layer time is within 5 % of the
// median of the second half. Later steps in which code was loaded do not count either. At least one step is kept.
// Where a stream has no steps, the k-th executions of all layers are taken as step k.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/attribution/instances.hpp"
#include "profiler/attribution/steps.hpp"
#include "sim/core/units.hpp"

namespace debubble::attribution {

inline constexpr std::int64_t kSettledPercent = 5;  // of the later median: a step that has settled
inline constexpr std::size_t kLeastToDetect = 4;    // steps, to look for a change in
inline constexpr std::size_t kLeastToCompare = 3;   // steps with and without recording, for its overhead
inline constexpr std::size_t kLeastForDrift = 6;    // steps, for two per third

struct StreamSelection {
  std::vector<bool> kept;  // by instance
  std::int64_t steps = 0;
  std::int64_t warm_up_steps = 0;
  std::int64_t warm_up_passes = 0;            // of a stream without steps: executions discarded of every layer
  std::int64_t outside_steps = 0;             // executions between steps: not counted
  bool forced = false;                        // everything looked like warm-up, the last step was kept all the same
  std::vector<Nanoseconds> recorded_walls;    // of steps with the profiler
  std::vector<Nanoseconds> unrecorded_walls;  // and without
  std::optional<std::int64_t> drift_ppm;
};

// `fixed` < 0: detect. `steps` is settled.
[[nodiscard]] StreamSelection select_executions(const Instances& instances, Steps& steps, std::int64_t fixed);

// The number of leading durations to discard; `loading` says in which code was loaded.
[[nodiscard]] std::size_t warm_up_length(const std::vector<Nanoseconds>& durations, const std::vector<bool>& loading);

// Median of the last third over the first, less 1.
[[nodiscard]] std::optional<std::int64_t> drift_of(const std::vector<Nanoseconds>& durations);

}  // namespace debubble::attribution
