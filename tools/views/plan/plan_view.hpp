// A plan as text, JSON and CSV.
#pragma once

#include <cstddef>
#include <string>

#include "formats/exporters/report_json.hpp"
#include "studies/plan/plan.hpp"
#include "tools/views/style.hpp"

namespace debubble {

[[nodiscard]] std::string plan_view(const Plan& plan, const ViewStyle& style);
// With the best `top` runs, beside the rows that the text shows.
[[nodiscard]] std::string plan_json(const Plan& plan, std::size_t top, const ToolFacts& tool);
// For the heat map of a page: of each pair of values how many fit, are illegal, too large, and not simulated.
[[nodiscard]] std::string plan_cells_json(const PlanCells& cells);
// One line for each run that was simulated and fits, the best first.
[[nodiscard]] std::string plan_csv(const Plan& plan, std::size_t top);
// Its columns, and one run in them; neither line is ended.
[[nodiscard]] std::string plan_csv_head();
[[nodiscard]] std::string plan_csv_line(const Plan& plan, const PlannedRun& run, std::size_t rank);

// "nothing that was left out can be shorter by more than 0.9 %"
[[nodiscard]] std::string certainty_words(const Plan& plan);

}  // namespace debubble
