// The flags that the functions of the module take: those of their commands that say what is asked, without those that
// say how it is shown or where it is written.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "scenario/request/flag.hpp"
#include "scenario/request/scenario.hpp"
#include "studies/plan/flags.hpp"
#include "studies/plan/planner_flags.hpp"
#include "tools/commands/compare_answer.hpp"
#include "tools/commands/diff.hpp"

namespace debubble::python {

struct PlanCallFlags {
  PlanFlags plan;
  PlannerFlags planners;
  ScenarioFlags scenario;
  std::optional<int> top;
  bool schedule_only = false;
};

// Of `simulate` and `schedule`.
[[nodiscard]] FlagRows simulate_call_rows(ScenarioFlags& flags);
[[nodiscard]] FlagRows compare_call_rows(CompareFlags& flags);
[[nodiscard]] FlagRows plan_call_rows(PlanCallFlags& flags);
[[nodiscard]] FlagRows diff_call_rows(DiffFlags& flags);

// module.flags("simulate"): for each a dict of name, short, aliases, kind ("switch", "integer", "text", "list"), type,
// help, unit. For docstrings and stubs.
void bind_flag_lists(pybind11::module_& module);

}  // namespace debubble::python
