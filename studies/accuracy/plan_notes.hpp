// What those who ran a published layout may know that a plan does not: by what the plan does otherwise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/accuracy/published_plans.hpp"

namespace debubble {

// Sentences; none where the plan is that layout. `error`: of the source's predicted step times, as a share.
[[nodiscard]] std::vector<std::string> plan_notes(const PlannedRun& plan, const PublishedLayout& theirs,
                                                  std::optional<double> error);

}  // namespace debubble
