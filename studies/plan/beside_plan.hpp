// One planner on a plan's job: what it is asked about, what it decides, and what the simulator makes of that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenario/job/progress.hpp"
#include "studies/plan/evaluation.hpp"
#include "studies/plan/plan_job.hpp"
#include "studies/plan/planner_flags.hpp"
#include "studies/planners/regret.hpp"

namespace debubble {

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

// What a decision with one stage per device runs in, beside that plan: its schedule, or 1f1b where that places stages
// otherwise.
[[nodiscard]] std::string straight_schedule(const PlanChoice& plan);

// Asks a planner about the job and sets its prediction. What is wrong with its parameters is thrown; whatever else it
// refuses becomes the row's refusal, and false.
bool ask_planner(const AskedPlanner& asked, const PlannerJob& job, PlannerAnswer& row);

// A step of 1F1B in which replicas take shares, and then an update of the weights that takes so long.
void judge_by_shares(const PlannerJob& job, Nanoseconds update, PlannerAnswer& row);

// Planners beside one run of a plan: whatever they do not decide is as there.
class BesidePlan {
 public:
  BesidePlan(const PlanRequest& request, const PlannedRun& best, Progress& progress);

  [[nodiscard]] const PlannerJob& job() const { return job_; }
  [[nodiscard]] PlannerAnswer ask(const AskedPlanner& asked) const;

 private:
  [[nodiscard]] int microbatches_of(int replicas, std::int64_t microbatch) const;
  [[nodiscard]] PlannerJob cut_job(int stages, int replicas) const;
  [[nodiscard]] PlanChoice chosen(const PlannerDecision& decision, int stages, int replicas) const;
  [[nodiscard]] bool run(int replicas, PlannerAnswer& row) const;

  const PlanRequest& request_;
  const PlannedRun& best_;
  Progress& progress_;
  int devices_ = 1;
  PlannerJob job_;
  std::string schedule_;
};

}  // namespace debubble
