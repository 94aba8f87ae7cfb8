// Why devices are idle: every gap on a compute lane, split by cause. Internal to sim/analysis.
//
// A gap before something on the lane (a span, or a step that computes) is explained by walking back along what it
// waited for: the transfer that brought its input, the span that made it, what that one waited for, and so on until the
// gap's beginning. Time of the walk spent
// - in transfers is latency, contention (what other flows on its links cost it) or bandwidth;
// - in compute elsewhere is fill before the device's first backward, drain after its last forward, dependency in
//   between; what that compute took beyond its stage's costs is straggler, and so is waiting for another replica of the
//   pipeline;
// - in copies of activations that were moved away is memory limit;
// - in barriers of a split output layer and in collectives of the training step is collective.
// So hops that add up along a pipeline's ramp are counted as transfer, and the causes sum to the gap exactly.
//
// After a device's last work the walk starts from what ends last of all: there, all is drain but contention, stragglers
// and the step's collectives.
#pragma once

#include "sim/analysis/report.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

[[nodiscard]] NanosecondsByCause idle_by_cause(const Timeline& timeline, int device);

}  // namespace debubble
