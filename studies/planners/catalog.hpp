// The catalog of planners: one row each. Lists, pages, spelling hints and the tests that ask all of them follow from
// it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "studies/planners/contract.hpp"

namespace debubble {

[[nodiscard]] std::span<const PlannerEntry> planner_catalog();

// The row of that name, or nullptr.
[[nodiscard]] const PlannerEntry* find_planner(std::string_view name);

// "dapple" or "pipedream:straight=yes,communication=no". Throws InputError C003, C006, C007 or C017.
struct PlannerSpec {
  const PlannerEntry* entry = nullptr;
  PlannerRequest request;
};
[[nodiscard]] PlannerSpec parse_planner(std::string_view text, bool as_published = false);

// Checks the job and asks the planner. Throws InputError: Z001 to Z003, or what is wrong with a parameter.
[[nodiscard]] PlannerDecision decide(const PlannerSpec& spec, const PlannerJob& job);
[[nodiscard]] PlannerDecision decide(std::string_view planner, const PlannerJob& job, bool as_published = false);

// Layers per stage, as --partition takes them. Throws InputError Z003 where the decision has no stages that cover the
// job's layers one after the other.
[[nodiscard]] std::vector<int> decided_partition(const PlannerDecision& decision, const PlannerJob& job);

}  // namespace debubble
