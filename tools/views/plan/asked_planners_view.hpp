// What planners decide on a plan's job beside the plan itself, as text, JSON and CSV.
//
//     planner     predicted  simulated  regret    memory  decides
//     debubble       1.21 s     1.21 s   0.0 %  41.2 GiB  tp 2, pp 4, dp 2, ZeRO-1; ...
//     pipedream      1.30 s     1.42 s  17.1 %  60.1 GiB  [0,18)x7 [18,34)x1 (shares)
#pragma once

#include <string>

#include "formats/exporters/report_json.hpp"
#include "studies/plan/asked_planners.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string planner_answers_text(const PlannerAnswers& answers, const ViewStyle& style);
// {"schema_version": 1, ..., "planners": [...]}; null where there is nothing.
[[nodiscard]] std::string planner_answers_json(const PlannerAnswers& answers, const ToolFacts& tool);
// A line for each row.
[[nodiscard]] std::string planner_answers_csv(const PlannerAnswers& answers);

}  // namespace debubble
