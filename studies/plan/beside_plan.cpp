#include "studies/plan/beside_plan.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "studies/plan/planner_jobs.hpp"

namespace debubble {
namespace {

const std::string* choice_named(const PlannerDecision& decision, std::string_view what) {
  for (const auto& [name, value] : decision.choices) {
    if (name == what) return &value;
  }
  return nullptr;
}

// The number that a text begins with; 0 where there is none.
int leading_number(std::string_view text) { return take_whole<int>(text).value_or(0); }

// A step by the planner's own cost model, where it predicts times.
std::optional<Nanoseconds> predicted_step(const PlannerDecision& decision, const PlannerJob& job) {
  if (decision.unit == "ns per step") return std::llround(decision.predicted);
  if (decision.unit.starts_with("ns per microbatch")) return std::llround(decision.predicted * job.microbatches);
  if (decision.unit != "times one device") return std::nullopt;
  const PlannerSums sums(job);
  const double one = static_cast<double>(sums.time(0, job.layer_count())) * slowest_factor(job);
  return std::llround(one * job.microbatches / decision.predicted);
}

bool as_many_replicas(const PlannerDecision& decision) {
  return std::all_of(decision.stages.begin(), decision.stages.end(),
                     [&](const PlannerStage& stage) { return stage.replicas == decision.stages.front().replicas; });
}

Evaluation simulated_run(const PlanRequest& request, const PlanChoice& choice) {
  Evaluation one;
  simulate_choice(request, choice, one);
  return one;
}

// Planners know no ZeRO: where a run does not fit, the first higher stage that does.
Evaluation sharded_run(const PlanRequest& request, PlanChoice choice) {
  Evaluation wanted = simulated_run(request, choice);
  if (choice.data == 1 && choice.context == 1) return wanted;
  while (wanted.kind == Evaluation::Kind::kOutOfMemory && ++choice.zero <= 3) {
    Evaluation sharded = simulated_run(request, choice);
    if (sharded.kind == Evaluation::Kind::kFits) return sharded;
  }
  return wanted;
}

// Nor do they know experts' ranks: as many as the plan's where that is legal, else fewer.
Evaluation legal_run(const PlanRequest& request, const PlanChoice& wanted) {
  Evaluation first;
  first.kind = Evaluation::Kind::kIllegal;
  for (int expert = wanted.expert; expert >= 1; --expert) {
    if (wanted.expert % expert != 0) continue;
    PlanChoice choice = wanted;
    choice.expert = expert;
    Evaluation one = sharded_run(request, choice);
    if (one.kind != Evaluation::Kind::kIllegal) return one;
    if (first.message.empty()) first = std::move(one);
  }
  return first;
}

}  // namespace

std::string straight_schedule(const PlanChoice& plan) {
  if (plan.pipeline < 2 || plan.chunks > 1) return "1f1b";
  ScheduleRequest request;
  request.devices = plan.pipeline;
  request.microbatches = plan.microbatches;
  return build_schedule(plan.schedule, request).placement.replicas() == 1 ? plan.schedule : "1f1b";
}

bool ask_planner(const AskedPlanner& asked, const PlannerJob& job, PlannerAnswer& row) {
  row.planner = asked.text;
  row.as_published = asked.spec.request.as_published;
  row.cuts_only = asked.spec.entry->cuts_only;
  try {
    row.decision = decide(asked.spec, job);
    row.predicted = predicted_step(row.decision, job);
    if (row.decision.stages.empty()) {
      row.refusal = "it decides no stages, but how operators are split";
    } else {
      static_cast<void>(decided_partition(row.decision, job));
    }
  } catch (const InputError& error) {
    if (error.diagnostics().front().code.front() != 'Z') throw;
    row.refusal = error.diagnostics().front().message;
  }
  return row.refusal.empty();
}

void judge_by_shares(const PlannerJob& job, Nanoseconds update, PlannerAnswer& row) {
  try {
    const DecisionWorth worth = decision_worth(job, row.decision);
    row.step = worth.step + update;
    row.peak = worth.peak_memory;
    row.fits = worth.fits;
  } catch (const InputError& error) {
    row.refusal = error.diagnostics().front().message;
  }
}

BesidePlan::BesidePlan(const PlanRequest& request, const PlannedRun& best, Progress& progress)
    : request_(request), best_(best), progress_(progress), devices_(best.choice.pipeline * best.choice.data) {
  job_ = planner_job(request, best.choice, devices_, microbatches_of(1, best.choice.microbatch));
  schedule_ = straight_schedule(best.choice);
}

int BesidePlan::microbatches_of(int replicas, std::int64_t microbatch) const {
  return static_cast<int>(std::max<std::int64_t>(1, request_.global_batch / (replicas * microbatch)));
}

PlannerJob BesidePlan::cut_job(int stages, int replicas) const {
  return planner_job(request_, best_.choice, stages, microbatches_of(replicas, best_.choice.microbatch));
}

PlannerAnswer BesidePlan::ask(const AskedPlanner& asked) const {
  progress_.phase("asking " + asked.text);
  PlannerAnswer row;
  const bool cuts_only = asked.spec.entry->cuts_only;
  int replicas = best_.choice.data;
  if (const auto stages = asked.spec.request.params.find("stages");
      cuts_only && stages != asked.spec.request.params.end()) {
    // Whether it is a number of stages at all is for the planner to say.
    replicas = devices_ / std::clamp(leading_number(stages->second), 1, devices_);
  }
  const PlannerJob job = cuts_only ? cut_job(devices_ / replicas, replicas) : job_;
  if (!ask_planner(asked, job, row)) return row;
  if (!cuts_only) replicas = row.decision.stages.front().replicas;
  if (!as_many_replicas(row.decision) || !run(replicas, row)) {
    judge_by_shares(job, longest_update(request_, best_.choice, decided_partition(row.decision, job)), row);
  }
  return row;
}

PlanChoice BesidePlan::chosen(const PlannerDecision& decision, int stages, int replicas) const {
  PlanChoice choice = best_.choice;
  choice.pipeline = stages;
  choice.data = replicas;
  choice.chunks = 1;
  choice.params.clear();  // of the plan's own schedule
  choice.recompute_stages.clear();
  choice.recompute_first = 0;
  choice.schedule = stages > 1 ? schedule_ : "1f1b";
  if (replicas == 1 && choice.context == 1) choice.zero = 0;
  if (!request_.job.transformer.model.empty()) {
    const std::string* again = choice_named(decision, "recompute");
    if (again != nullptr && *again == "yes") choice.recompute = 2;
    const std::string* times = choice_named(decision, "microbatch");  // "2 times the job's"
    if (times != nullptr) choice.microbatch *= std::max(leading_number(*times), 1);
    while (choice.microbatch > 1 && request_.global_batch % (replicas * choice.microbatch) != 0) --choice.microbatch;
  }
  choice.microbatches = microbatches_of(replicas, choice.microbatch);
  return choice;
}

// Simulated as a run; false where there is none with so many replicas: the batch does not divide.
bool BesidePlan::run(int replicas, PlannerAnswer& row) const {
  PlanRequest request = request_;
  const std::vector<int> partition = decided_partition(row.decision, job_);
  request.job.partition = partition_text(partition);
  const PlanChoice choice = chosen(row.decision, static_cast<int>(partition.size()), replicas);
  if (request.global_batch % (replicas * choice.microbatch) != 0) return false;
  const Evaluation one = legal_run(request, choice);
  if (one.kind == Evaluation::Kind::kIllegal) {
    row.refusal = "its decision is not a legal run: " + one.message;
  } else if (one.kind == Evaluation::Kind::kDeadlock) {
    row.refusal = "its decision deadlocks under " + choice.schedule;
  } else {
    row.choice = one.run.choice;
    row.partition = request.job.partition;
    row.step = one.run.step;
    row.peak = one.run.peak;
    row.fits = one.kind == Evaluation::Kind::kFits;
  }
  return true;
}

}  // namespace debubble
