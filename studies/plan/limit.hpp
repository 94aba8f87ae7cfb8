// What limits the best plan: where its step goes, and what it could be without the limit of the memory.
#pragma once

#include <optional>

#include "scenario/job/progress.hpp"
#include "sim/analysis/report.hpp"
#include "studies/plan/search.hpp"

namespace debubble {

struct PlanLimit {
  // Shares of the step, of the average device; they add up to 1.
  double compute = 0;             // the optimizer's too
  double inside_collectives = 0;  // of tensor, context and expert ranks, inside the layers' own time
  double communication = 0;       // exposed: waiting for transfers and collectives
  double waiting = 0;             // for other stages: fill, drain, uneven work
  // Simulated without the limit of the memory, and faster than the best plan.
  std::optional<PlannedRun> without_memory_limit;
  // Without that limit nothing is faster by a larger share; absent: it excludes nothing, or that was not looked for.
  std::optional<double> most_gain;
};

// `best` is the report of the first of `found.runs`, which `options` were searched with. Searches without the limit
// where the search left something out for its memory and came to an end in its time; to 2 % at best, since that is
// another search.
[[nodiscard]] PlanLimit find_plan_limit(const PlanRequest& request, const SearchOptions& options,
                                        const SearchResult& found, const Report& best, Progress& progress);

}  // namespace debubble
