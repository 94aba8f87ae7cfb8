// From what was asked on the command line to the job that planners are asked about.
#pragma once

#include "scenario/request/scenario.hpp"
#include "studies/planners/job.hpp"

namespace debubble {

// Layers of the scenario's profile or modelled transformer, its devices (-p) on its links, its microbatches, and the
// memory that its devices have where that is judged (equal memory is one type of devices). Equal times.
// Throws InputError Z001 without a model or profile, or where -p is missing; and what the scenario's parts throw.
[[nodiscard]] PlannerJob planner_job(const Scenario& scenario);

}  // namespace debubble
