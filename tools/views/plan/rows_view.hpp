// The runs of a plan in a table, and what its marks say.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "studies/plan/plan.hpp"

namespace debubble {

[[nodiscard]] std::string rows_table(const Plan& plan, std::size_t width);

// "~" and "?" as they stand beside rows, and "rows": which are listed at all.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> words_of_rows(const Plan& plan);

// "+1.0 %": beside the best.
[[nodiscard]] std::string slower(const PlannedRun& run, const PlannedRun& best);

}  // namespace debubble
