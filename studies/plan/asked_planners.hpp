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
#include <string>
#include <vector>

#include "scenario/job/progress.hpp"
#include "studies/plan/device_types.hpp"
#include "studies/plan/plan.hpp"
#include "studies/planners/regret.hpp"

namespace debubble {

struct PlannerFlags {
  std::vector<std::string> planners;  // NAME, NAME:PARAM=VALUE, all
  bool as_published = false;
  std::string device_types;  // a file
};
[[nodiscard]] FlagRows flag_rows(PlannerFlags& flags);
// Whether the flags ask for planners at all.
[[nodiscard]] bool asks_planners(const PlannerFlags& flags);

struct PlannerAnswer {
  std::string planner;  // as asked: "pipedream:straight=yes"
  bool as_published = false;
  bool own = false;        // the plan itself
  bool cuts_only = false;  // it got the plan's number of stages
  std::string refusal;     // why it decides nothing here, or why that is no legal run; else empty
  PlannerDecision decision;
  std::optional<PlanChoice> choice;  // simulated as this; nothing: by shares
  std::string partition;             // of that
  Nanoseconds step = 0;
  Bytes peak = 0;  // of the device that takes most
  bool fits = true;
  std::optional<Nanoseconds> predicted;  // a step by its own cost model, where that tells times
  std::optional<std::int64_t> regret_ppm;
};

struct PlannerAnswers {
  PlannerJob job;            // that planners with stages and replicas were asked about
  std::int64_t samples = 0;  // of one of its microbatches
  int ranks = 1;             // GPUs of one of its devices
  std::optional<Plan> plan;  // nothing where devices differ
  PlanChoice cut;            // what planners that only cut were given; the best run, or its best one with a pipeline
  std::vector<PlannerAnswer> rows;
};

// What a decision with one stage per device runs in, beside that plan: its schedule, or 1f1b where that places stages
// otherwise.
[[nodiscard]] std::string straight_schedule(const PlanChoice& plan);

// The names, checked. Throws what parse_planner does.
void check_planner_names(const PlannerFlags& flags);

// Throws what make_plan does; InputError C087 for what does not go with planners. Where the plan has no run that fits,
// there are no rows.
[[nodiscard]] PlannerAnswers ask_planners(const ScenarioFlags& job, const PlanFlags& flags, const PlannerFlags& asked,
                                          Progress& progress);

}  // namespace debubble
