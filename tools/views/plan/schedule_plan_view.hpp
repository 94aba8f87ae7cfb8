// What plan --schedule-only found, as text, JSON and CSV.
#pragma once

#include <cstddef>
#include <string>

#include "formats/exporters/report_json.hpp"
#include "studies/plan/schedule_only.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// The best `top` are shown, and all that `optimal` found.
[[nodiscard]] std::string schedule_plan_view(const SchedulePlan& plan, std::size_t top, const ViewStyle& style);
[[nodiscard]] std::string schedule_plan_json(const SchedulePlan& plan, const ToolFacts& tool);
// One line for each schedule, the best first.
[[nodiscard]] std::string schedule_plan_csv(const SchedulePlan& plan);

}  // namespace debubble
