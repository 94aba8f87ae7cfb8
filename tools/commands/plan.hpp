// debubble plan: the best way to run a job on a number of GPUs, with how sure that is.
#pragma once

#include <cstddef>
#include <optional>

#include "studies/plan/flags.hpp"
#include "studies/plan/planner_flags.hpp"

namespace debubble {

// What --top says; the module of Python asks it, too. Throws InputError C012.
[[nodiscard]] std::size_t printed_runs(std::optional<int> top);
// With --schedule-only the flags of whole plans say nothing: throws InputError C087 where one is given.
void refuse_flags_of_plans(PlanFlags& plan, PlannerFlags& planners);

}  // namespace debubble
