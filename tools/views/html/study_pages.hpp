// The pages of studies of many runs: plan, check, accuracy. What is given must outlive them.
#pragma once

#include <cstddef>
#include <string>

#include "studies/check/result.hpp"
#include "studies/plan/plan.hpp"
#include "tools/views/html/page.hpp"

namespace debubble {

// Its report.json has the best `top` runs, as `--format json`; all that were simulated and fit are in runs.json.
[[nodiscard]] Page plan_page(const Plan& plan, std::size_t top, const std::string& command_line);

[[nodiscard]] Page check_page(const CheckResult& result, const std::string& command_line);

// Of published results: what is printed as JSON and as text.
[[nodiscard]] Page accuracy_page(const std::string& json, const std::string& text, const std::string& command_line);

}  // namespace debubble
