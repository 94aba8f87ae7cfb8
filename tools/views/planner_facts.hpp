// What the catalog of planners says, for people, as a page and as JSON.
#pragma once

#include <string>

#include "studies/planners/contract.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// All planners, one table under each name.
[[nodiscard]] std::string planners_text(const ViewStyle& style);
[[nodiscard]] std::string planner_text(const PlannerEntry& entry, const ViewStyle& style);

// docs/planners.md
[[nodiscard]] std::string planner_page();

// {"schema_version": 1, "planners": [...]}
[[nodiscard]] std::string planners_json();

}  // namespace debubble
