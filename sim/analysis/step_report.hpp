// What a training step spends in addition to the ops of its schedule, by kind of task. Internal to sim/analysis.
#pragma once

#include <optional>

#include "sim/analysis/report.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// Nothing where the timeline has no tasks of a step. A kind's times are those of the device that spends most on it (the
// first of several). A collective is exposed while the device's compute lane does nothing else; what holds the lane is
// exposed throughout.
[[nodiscard]] std::optional<StepReport> report_step(const Timeline& timeline);

// Of all ops' time, the collectives inside their stages, as their stages' costs say; where an op varies, they are
// counted at their usual length.
[[nodiscard]] Nanoseconds inside_collectives(const Timeline& timeline, const Schedule& schedule,
                                             const StageCosts& costs);

}  // namespace debubble
