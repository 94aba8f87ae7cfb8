// Writes what a ClusterRun has found out as Timelines. Internal to sim/engine.
#pragma once

#include "sim/core/schedule.hpp"
#include "sim/core/step_work.hpp"
#include "sim/core/timeline.hpp"
#include "sim/engine/cluster_run.hpp"

namespace debubble {

// Of one pipeline replica. `step` may be null.
[[nodiscard]] Timeline timeline_of(const ClusterRun& run, int replica, const Program& program, const Schedule& schedule,
                                   const StepWork* step);

}  // namespace debubble
