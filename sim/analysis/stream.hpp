// The steady state of a schedule without a flush: how often a microbatch leaves the pipeline once it is full.
//
//     1F1B on 3 devices, 8 microbatches      warm-up  |  steady  |  cool-down
//     0F0 0F1 0F2 0B0 0F3 0B1 0F4 0B2 0F5 0B3 0F6 0B4 0F7 0B5 0B6 0B7
//       microbatches 0..2 start before a device's first backward; 5..7 end after a device's last forward
#pragma once

#include <optional>

#include "sim/analysis/report.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// A microbatch leaves when its B or I on stage 0 ends. Warm-up: those with a forward in front of its device's first
// backward. Cool-down: those with a backward after its device's last forward; they no longer meet a full pipeline. Of
// the microbatches in between, the first half is left out too, in which unequal stages settle. Over the others, the
// shortest run of microbatches that always takes the same time, and that time; where there is none, all of them.
// Nothing when fewer than two remain, or none takes time.
[[nodiscard]] std::optional<StreamPeriod> stream_period(const Timeline& timeline, const Schedule& schedule);

}  // namespace debubble
