// What a plan is made for: the job, what its flags leave open, and how it is searched.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/assumption.hpp"
#include "studies/plan/flags.hpp"
#include "studies/plan/own_run.hpp"
#include "studies/plan/search.hpp"

namespace debubble {

struct PlanJob {
  PlanRequest request;
  PlanFlags flags;  // as typed
  SearchOptions options;
  std::optional<double> price;          // of a GPU hour
  std::optional<OwnRun> own;            // what to compare with
  std::string own_left_out;             // why it is not compared
  bool unequal_ranks = false;           // of the profile, which a plan takes for alike
  bool chosen_topology = false;         // it is the usual one of the hardware: nobody gave it
  std::vector<Assumption> assumptions;  // of the request itself; those of a run are its own
  std::vector<std::string> left_out;    // asynchronous schedules that were named beside others
};

// Throws what make_plan throws, but for plan_space's errors.
[[nodiscard]] PlanJob read_plan(const ScenarioFlags& job, const PlanFlags& flags);

}  // namespace debubble
