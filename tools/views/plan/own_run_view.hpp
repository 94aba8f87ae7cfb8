// The run that is there already, beside the plan.
#pragma once

#include <string>
#include <vector>

#include "studies/plan/plan.hpp"

namespace debubble {

// "train.sh: tp 2, pp 4, dp 2; ...", how it stands, and what of it is left out or assumed; none without such a run.
[[nodiscard]] std::vector<std::string> own_run_lines(const Plan& plan);

}  // namespace debubble
