// The best of a plan, cut again for the links: the search's own cuts balance time alone, for the bounds hold for those.
#pragma once

#include <cstddef>
#include <vector>

#include "scenario/job/progress.hpp"
#include "studies/plan/search.hpp"

namespace debubble {

inline constexpr std::size_t kMostCutForLinks = 8;

// Whether the space has the balanced cut alone, and links may differ, so that another cut may be faster.
[[nodiscard]] bool cuts_ignore_links(const PlanRequest& request);

// Those of `runs` that are faster with --partition auto and fit, simulated with it; best first.
[[nodiscard]] std::vector<PlannedRun> cut_for_links(const PlanRequest& request, const std::vector<PlannedRun>& runs,
                                                    int threads);

}  // namespace debubble
