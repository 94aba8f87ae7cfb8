// What all planners decide for one job and what each decision is worth, as text and JSON.
//
//     planner                   step  regret     memory  fits  stages (layers, x replicas)
//     dapple                 9.12 ms   0.0 %   40.1 GiB  yes   [0,18)x15 [18,25)x1
//     dapple as published    9.12 ms   0.0 %   40.1 GiB  yes   [0,18)x15 [18,25)x1
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/planners/regret.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// "bert-large, 24 layers; 4 devices with 80.0 GiB each, links without a limit; 16 microbatches per step"
[[nodiscard]] std::string planner_job_text(const PlannerJob& job);

// In the order of the trials; planners that decide nothing here last, with their reasons.
[[nodiscard]] std::string planner_trials_text(const std::vector<PlannerTrial>& trials, const ViewStyle& style);
// {"schema_version": 1, "planners": [...]}; null where there is nothing.
[[nodiscard]] std::string planner_trials_json(const std::vector<PlannerTrial>& trials);

// One decision in words: stages, prediction, choices, notes, and what it is worth where it was simulated.
[[nodiscard]] std::string planner_decision_text(const PlannerDecision& decision,
                                                const std::optional<DecisionWorth>& worth, const ViewStyle& style);

}  // namespace debubble
