// From the checked flags to the training step of a run.
#pragma once

#include "scenario/job/run.hpp"

namespace debubble {

// Fills run.step for run.schedule, run.costs and run.topology, and puts what ZeRO does inside ops into run.costs; what
// it assumes stands in the report. Nothing where there is no step. Once per run: costs grow. Throws InputError B030 and
// C001 (cost_models/step/step_work.hpp), and C004 where flags shape a step that is not there.
void set_step_work(const Scenario& scenario, Run& run);

}  // namespace debubble
