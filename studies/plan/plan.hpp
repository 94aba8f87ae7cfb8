// plan: the best way to run a job on a number of GPUs, how sure that is, and what else there is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/job/progress.hpp"
#include "sim/analysis/report.hpp"
#include "studies/paste/paste.hpp"
#include "studies/plan/cells.hpp"
#include "studies/plan/own_changes.hpp"
#include "studies/plan/plan_job.hpp"
#include "studies/plan/rows.hpp"
#include "studies/plan/search.hpp"
#include "studies/plan/shortage.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

// A plan that is best in some other respect.
struct Alternative {
  std::string what;               // "simplest", "least memory", "runs in Megatron-LM today"
  std::optional<PlannedRun> run;  // nothing: there is none
  std::string framework;          // that runs it; empty: it is not about one
};

// What limits the best plan: where its step goes, and what it could be without the limit of the memory.
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

// `best` is the report of the first of `found.runs`, which `search` found with `options`. Searches without the limit
// where the search left something out for its memory and came to an end in its time; to 2 % at best, since that is
// another search.
[[nodiscard]] PlanLimit find_plan_limit(const PlanRequest& request, const SearchOptions& options,
                                        const SearchResult& found, const PlanSearch& search, const Report& best,
                                        Progress& progress);

struct Plan {
  PlanJob asked;
  SearchResult search;
  std::vector<std::string> restrictions;
  // Of the best, where there is one.
  std::optional<Simulated> best;
  std::vector<PlanRow> rows;            // that are listed; the first is the best
  std::vector<PassedOver> passed_over;  // faster than the best, and not the best
  bool kernels_measured = true;         // of a modelled job: whether this GPU has a table of kernels
  std::vector<Paste> frameworks;
  std::vector<Alternative> alternatives;
  std::optional<OwnStanding> own;      // of the run that is there already, where one was given
  std::vector<OwnChange> own_changes;  // from it to the best
  std::optional<PlanLimit> limit;
  std::optional<PlanFront> front;  // with --front
  std::optional<PlanCells> cells;  // with PlanFlags::cells, where something fits
  PlanShortage shortage;           // where nothing fits
};

// Throws InputError: what check_scenario and plan_space throw, C004 without a model or profile, C012 for numbers out of
// range, C087 for what a plan decides itself. `ranks`: other processes that evaluate, too, and are dismissed; or null.
[[nodiscard]] Plan make_plan(const ScenarioFlags& job, const PlanFlags& flags, Progress& progress,
                             PlanRanks* ranks = nullptr);

// Money for a million tokens, or for a thousand samples where a sample has no tokens; nothing without a price.
[[nodiscard]] std::optional<double> cost_of(const Plan& plan, const PlannedRun& run);

}  // namespace debubble
