// plan --planner: other planners on a plan's job. What they decide is judged by the simulator, as the plan itself is.
//
// Planners know layers, devices and links, and decide cuts, stages and replicas. Everything else is as in the best
// plan: a device of theirs is a group of its tensor and context ranks, a microbatch is of its size, ZeRO stage,
// recomputation and, where it takes one stage per device, the schedule are its own.
//
//     as many replicas on every stage    simulated as `debubble simulate` does: collectives, optimizer, allocator
//     others ("shares")                  a step of 1F1B in which every replica takes its share of each microbatch, with
//                                        the exchange of its weights and the longest update
//     devices that differ                all of them by shares (studies/planners/regret.hpp), without the update
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenario/job/progress.hpp"
#include "studies/plan/beside_plan.hpp"
#include "studies/plan/plan.hpp"
#include "studies/plan/planner_flags.hpp"

namespace debubble {

struct PlannerAnswers {
  PlannerJob job;            // that planners with stages and replicas were asked about
  std::int64_t samples = 0;  // of one of its microbatches
  int ranks = 1;             // GPUs of one of its devices
  std::optional<Plan> plan;  // nothing where devices differ, or a job is asked about that has none
  PlanChoice cut;            // what planners that only cut were given; the best run, or its best one with a pipeline
  std::vector<PlannerAnswer> rows;
};

// Throws what make_plan does; InputError C087 for what does not go with planners. Where the plan has no run that fits,
// there are no rows.
[[nodiscard]] PlannerAnswers ask_planners(const ScenarioFlags& job, const PlanFlags& flags, const PlannerFlags& asked,
                                          Progress& progress);

// All planners, with their faults too where they have any, on a job that is no plan's: by shares, without the update.
[[nodiscard]] PlannerAnswers ask_all_planners(PlannerJob job, std::int64_t samples, Progress& progress);

}  // namespace debubble
