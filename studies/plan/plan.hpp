// plan: the best way to run a job on a number of GPUs, how sure that is, and what else there is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/job/progress.hpp"
#include "scenario/request/flag.hpp"
#include "studies/plan/framework_flags.hpp"
#include "studies/plan/search.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

// The flags that only `debubble plan` has, as typed.
struct PlanFlags {
  std::optional<int> gpus;
  std::optional<std::int64_t> global_batch;
  std::vector<std::string> fix;   // KEY=VALUE,...
  std::vector<std::string> only;  // KEY=VALUE,VALUE,...
  std::string runs_in;
  std::string objective;
  std::string price;  // of a GPU hour
  std::string gap;
  std::string budget;
  std::optional<int> threads;
};
[[nodiscard]] FlagRows flag_rows(PlanFlags& flags);

// A plan that is best in some other respect.
struct Alternative {
  std::string what;               // "simplest", "least memory", "runs in Megatron-LM today"
  std::optional<PlannedRun> run;  // nothing: there is none
};

struct Plan {
  ScenarioFlags job;  // what all choices have in common, with the topology that was chosen
  int gpus = 0;
  std::int64_t global_batch = 0;
  PlanObjective objective = PlanObjective::kStep;
  std::optional<double> price;
  double asked_gap = 0;
  SearchResult search;
  std::vector<std::string> restrictions;
  std::vector<Assumption> assumptions;  // of the request itself; those of the best run are its own
  // Of the best, where there is one.
  std::optional<Simulated> best;
  std::vector<FrameworkFlags> frameworks;
  std::vector<Alternative> alternatives;
  // Where nothing fits: the smallest multiple of the GPUs on which something does.
  std::optional<int> enough_gpus;
};

// Throws InputError: what check_scenario and plan_space throw, C004 without a model or profile, C012 for numbers out of
// range, C087 for what a plan decides itself.
[[nodiscard]] Plan make_plan(const ScenarioFlags& job, const PlanFlags& flags, Progress& progress);

// Money for a million tokens, or for a thousand samples where a sample has no tokens; nothing without a price.
[[nodiscard]] std::optional<double> cost_of(const Plan& plan, const PlannedRun& run);

}  // namespace debubble
