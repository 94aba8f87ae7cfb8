#include "studies/plan/planner_flags.hpp"

#include <string_view>
#include <utility>

#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"

namespace debubble {

FlagRows flag_rows(PlannerFlags& flags) {
  const FlagGroup row("Planners");
  return {
      row("--planner", "NAME", "also ask: dapple, pipedream:straight=yes, all", &flags.planners, FlagCount::kAll),
      row("--as-published", "also as published, with the faults of that code", &flags.as_published),
      row("--device-types", "FILE", "heterogeneous devices: types and counts", &flags.device_types),
  };
}

bool asks_planners(const PlannerFlags& flags) {
  return !flags.planners.empty() || !flags.device_types.empty() || flags.as_published;
}

void check_planner_names(const PlannerFlags& flags) {
  if (flags.planners.empty() && flags.device_types.empty()) {
    throw InputError(Diagnostic{"C061", "--as-published", "nothing says which planners", "add --planner all"});
  }
  static_cast<void>(asked_planners(flags));
}

std::vector<AskedPlanner> asked_planners(const PlannerFlags& flags) {
  std::vector<AskedPlanner> all;
  const auto add = [&](const std::string& text) {
    PlannerSpec spec = parse_planner(text);
    all.push_back({text, spec});
    if (!flags.as_published || spec.entry->faults.empty()) return;
    spec.request.as_published = true;
    all.push_back({text, std::move(spec)});
  };
  for (const std::string& text : flags.planners.empty() ? std::vector<std::string>{"debubble"} : flags.planners) {
    if (text != "all") {
      add(text);
      continue;
    }
    for (const PlannerEntry& entry : planner_catalog()) add(entry.name);
  }
  return all;
}

}  // namespace debubble
