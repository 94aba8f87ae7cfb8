// What a planner decides for a job, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/planners/regret.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// "bert-large, 24 layers; 4 devices with 80.0 GiB each, links without a limit; 16 microbatches per step"
[[nodiscard]] std::string planner_job_text(const PlannerJob& job);

// One decision in words: stages, prediction, choices, notes, and what it is worth where it was simulated.
[[nodiscard]] std::string planner_decision_text(const PlannerDecision& decision,
                                                const std::optional<DecisionWorth>& worth, const ViewStyle& style);

}  // namespace debubble
