// The flags with which `debubble plan` asks other planners.
#pragma once

#include <string>
#include <vector>

#include "scenario/request/flag.hpp"
#include "studies/planners/catalog.hpp"

namespace debubble {

struct PlannerFlags {
  std::vector<std::string> planners;  // NAME, NAME:PARAM=VALUE, all
  bool as_published = false;
  std::string device_types;  // a file
};
[[nodiscard]] FlagRows flag_rows(PlannerFlags& flags);
// Whether the flags ask for planners at all.
[[nodiscard]] bool asks_planners(const PlannerFlags& flags);

// The names, checked. Throws what parse_planner does.
void check_planner_names(const PlannerFlags& flags);

struct AskedPlanner {
  std::string text;
  PlannerSpec spec;
};

// In the order asked; of `all` in the catalog's order. Without a name: debubble. Throws what parse_planner does.
[[nodiscard]] std::vector<AskedPlanner> asked_planners(const PlannerFlags& flags);

}  // namespace debubble
