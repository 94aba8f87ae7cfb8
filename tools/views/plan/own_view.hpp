// The run that is there already, beside a plan: how it stands, and what leads from it to the best.
#pragma once

#include <string>
#include <vector>

#include "studies/plan/plan.hpp"

namespace debubble {

// "train.sh: tp 2, pp 4, dp 2; ...", how it stands, and what of it is left out or assumed; none without such a run.
[[nodiscard]] std::vector<std::string> own_run_lines(const Plan& plan);

// What has to be changed, a line each with the gain so far and alone; none where nothing leads to the best.
[[nodiscard]] std::vector<std::string> own_change_lines(const Plan& plan);

}  // namespace debubble
