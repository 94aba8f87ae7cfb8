// Why devices are idle: every gap on a compute lane, split by cause. Internal to sim/analysis.
//
// A gap before a span is explained by walking back along what the span waited for: the transfer that brought its input,
// the span that made it, what that one waited for, and so on until the gap's beginning. Time of the walk spent in
// transfers is latency or bandwidth; time spent in compute elsewhere is fill before the device's first backward, drain
// after its last forward, dependency in between; in copies of activations that were moved away it is memory limit; in
// barriers of a split output layer, collective. So hops that add up along a pipeline's ramp are counted as transfer,
// and the causes sum to the gap exactly.
#pragma once

#include "sim/analysis/report.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

[[nodiscard]] NanosecondsByCause idle_by_cause(const Timeline& timeline, int device);

}  // namespace debubble
