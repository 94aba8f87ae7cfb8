// Calibration: what the ops and transfers of a run take on this machine: each alone in its part, with half of the other
// parts at work, and with all. Parts share memory bandwidth and power, so these differ; what a run is predicted with is
// what ops take beside as many as work at the time (StageCosts::at_work).
//
//     alone   device 0 | F I W F B | F I W F B |          busy   device 0 | F I W F B | F I W F B | F I
//                                                                device 1 | F I W F B F I W F B F I W F
//                                                                             counted: |<-------->|  all are at work
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "live/cuda/bench.hpp"
#include "live/live.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble::live {

struct Calibration {
  // Times only, of a whole microbatch.
  StageCosts alone;
  StageCosts busy;                   // while all devices work
  std::vector<TimesAtWork> at_work;  // while fewer do, from one on
  // From the end of an op to the begin of the op that waits for its output, while all others work; and with nothing
  // else on the machine.
  Nanoseconds hop_latency = 0;
  Nanoseconds latency_alone = 0;
  std::int64_t hop_bandwidth = 0;  // bytes per second, while all parts work; 0: too fast to tell
  std::int64_t bandwidth_alone = 0;
  Nanoseconds clock_step = 0;  // of the GPU's clock, as seen
  // False: no moment with so many devices at work had every op in it, and times come from all that was timed.
  bool all_at_work = true;
};

// After at least one iteration: the buffers hold real data. `iteration` is what one takes, and `iterate` runs one more;
// it returns false when that got stuck, and then there is no calibration. Throws UnavailableError U027 when the GPU
// fails, or stops.
[[nodiscard]] std::optional<Calibration> calibrate(const Job& job, const GpuParts& parts, const Lanes& lanes,
                                                   const Works& works, Executor& executor, Bench& bench,
                                                   Nanoseconds iteration, const std::function<bool()>& iterate);

// "stage 0: F 1.02, I 1.10, W 1.00, B 1.05; ...": busy over alone.
[[nodiscard]] std::string interference_text(const Calibration& calibration);
// "stage 0: F 1.234, I 2.345, W ..., B ... ms; ..."
[[nodiscard]] std::string costs_text(const StageCosts& costs);

}  // namespace debubble::live
