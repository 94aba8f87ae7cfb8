// What moving an activation away takes, where a schedule does so, and what is assumed for it.
#pragma once

#include <vector>

#include "scenario/request/scenario.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble {

// Of a profiled run: one way of a stage's activation over the link to the host (--host-bandwidth), or, where the
// schedule's copies go to other devices, over the pipeline's own links. Says so only where the schedule has copies; a
// planner may look at the times before there are any.
void set_copy_costs(const Scenario& scenario, const Schedule& schedule, StageCosts& costs,
                    std::vector<Assumption>& assumptions);

}  // namespace debubble
