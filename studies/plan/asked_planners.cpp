#include "studies/plan/asked_planners.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "formats/files/read_file.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"
#include "studies/plan/planner_jobs.hpp"

namespace debubble {
namespace {

struct AskedPlanner {
  std::string text;
  PlannerSpec spec;
};

// In the order asked; of `all` in the catalog's order.
std::vector<AskedPlanner> asked_specs(const PlannerFlags& flags) {
  std::vector<AskedPlanner> all;
  const auto add = [&](const std::string& text) {
    PlannerSpec spec = parse_planner(text);
    all.push_back({text, spec});
    if (!flags.as_published || spec.entry->faults.empty()) return;
    spec.request.as_published = true;
    all.push_back({text, std::move(spec)});
  };
  for (const std::string& text : flags.planners.empty() ? std::vector<std::string>{"debubble"} : flags.planners) {
    if (text != "all") {
      add(text);
      continue;
    }
    for (const PlannerEntry& entry : planner_catalog()) add(entry.name);
  }
  return all;
}

const std::string* choice_named(const PlannerDecision& decision, std::string_view what) {
  for (const auto& [name, value] : decision.choices) {
    if (name == what) return &value;
  }
  return nullptr;
}

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

void set_regrets(std::vector<PlannerAnswer>& rows) {
  auto best = std::numeric_limits<Nanoseconds>::max();
  for (const PlannerAnswer& row : rows) {
    if (row.refusal.empty() && row.fits) best = std::min(best, row.step);
  }
  for (PlannerAnswer& row : rows) {
    if (!row.refusal.empty() || !row.fits || best <= 0) continue;
    row.regret_ppm = std::llround((static_cast<double>(row.step) / static_cast<double>(best) - 1) * 1e6);
  }
}

// By shares.
void judge_by_shares(const PlannerJob& job, PlannerAnswer& row, Nanoseconds update) {
  const DecisionWorth worth = decision_worth(job, row.decision);
  row.step = worth.step + update;
  row.peak = worth.peak_memory;
  row.fits = worth.fits;
}

// Planners beside the best run of a plan.
class BesidePlan {
 public:
  BesidePlan(const PlanJob& asked, const PlannedRun& best, Progress& progress)
      : request_(asked.request), best_(best), progress_(progress) {
    devices_ = best.choice.pipeline * best.choice.data;
    job_ = planner_job(request_, best.choice, devices_, microbatches_of(1, best.choice.microbatch));
    schedule_ = straight_schedule(best.choice);
  }

  [[nodiscard]] const PlannerJob& job() const { return job_; }

  PlannerAnswer ask(const AskedPlanner& asked) {
    PlannerAnswer row;
    row.planner = asked.text;
    row.as_published = asked.spec.request.as_published;
    row.cuts_only = asked.spec.entry->cuts_only;
    progress_.phase("asking " + asked.text);
    int replicas = best_.choice.data;
    if (row.cuts_only && asked.spec.request.params.contains("stages")) {
      const int stages = planner_stages(asked.spec);
      replicas = std::max(1, devices_ / stages);
    }
    const PlannerJob job = row.cuts_only ? cut_job(devices_ / replicas, replicas) : job_;
    try {
      row.decision = decide(asked.spec, job);
      row.predicted = predicted_step(row.decision, job);
      if (row.decision.stages.empty()) {
        row.refusal = "it decides no stages, but how operators are split";
      } else if (!as_many_replicas(row.decision) ||
                 !run(row, row.cuts_only ? replicas : row.decision.stages.front().replicas)) {
        judge_by_shares(job_, row, longest_update(request_, best_.choice, decided_partition(row.decision, job_)));
      }
    } catch (const InputError& error) {
      row.refusal = error.diagnostics().front().message;
      // A wrong parameter is the person's, not the planner's.
      if (error.diagnostics().front().code.front() == 'C') throw;
    }
    return row;
  }

 private:
  [[nodiscard]] int microbatches_of(int replicas, std::int64_t microbatch) const {
    return static_cast<int>(std::max<std::int64_t>(1, request_.global_batch / (replicas * microbatch)));
  }

  // The first number only: whether it is one is for the planner to say.
  [[nodiscard]] int planner_stages(const PlannerSpec& spec) const {
    const std::string& text = spec.request.params.at("stages");
    int stages = 0;
    std::from_chars(text.data(), text.data() + text.size(), stages);
    return std::clamp(stages, 1, devices_);
  }

  [[nodiscard]] PlannerJob cut_job(int stages, int replicas) const {
    return planner_job(request_, best_.choice, stages, microbatches_of(replicas, best_.choice.microbatch));
  }

  // Simulated as a run; false where there is none with so many replicas: the batch does not divide.
  bool run(PlannerAnswer& row, int replicas) {
    PlanRequest request = request_;
    const std::vector<int> partition = decided_partition(row.decision, job_);
    request.job.partition = partition_text(partition);
    PlanChoice choice = best_.choice;
    choice.pipeline = static_cast<int>(partition.size());
    choice.data = replicas;
    choice.chunks = 1;
    choice.schedule = choice.pipeline > 1 ? schedule_ : "1f1b";
    if (!request.job.transformer.model.empty()) {
      if (const std::string* again = choice_named(row.decision, "recompute"); again != nullptr && *again == "yes") {
        choice.recompute = 2;
      }
      if (const std::string* times = choice_named(row.decision, "microbatch")) {
        int multiple = 1;
        std::from_chars(times->data(), times->data() + times->size(), multiple);
        choice.microbatch *= std::max(multiple, 1);
      }
      while (choice.microbatch > 1 && request.global_batch % (replicas * choice.microbatch) != 0) --choice.microbatch;
    }
    if (request.global_batch % (replicas * choice.microbatch) != 0) return false;
    choice.microbatches = microbatches_of(replicas, choice.microbatch);
    if (replicas == 1 && choice.context == 1) choice.zero = 0;
    Evaluation one = first_legal(request, choice);
    if (one.kind == Evaluation::Kind::kIllegal) {
      row.refusal = "its decision is no legal run: " + one.message;
      return true;
    }
    if (one.kind == Evaluation::Kind::kDeadlock) {
      row.refusal = "its decision deadlocks under " + choice.schedule;
      return true;
    }
    row.choice = one.run.choice;
    row.partition = request.job.partition;
    row.step = one.run.step;
    row.peak = one.run.peak;
    row.fits = one.kind == Evaluation::Kind::kFits;
    return true;
  }

  // Planners know no experts' ranks and no ZeRO: as many as the plan's where that is legal, else fewer ranks; where it
  // does not fit, the first higher stage that does.
  [[nodiscard]] Evaluation first_legal(const PlanRequest& request, const PlanChoice& wanted) const {
    Evaluation first;
    first.kind = Evaluation::Kind::kIllegal;
    for (int expert = wanted.expert; expert >= 1; --expert) {
      if (wanted.expert % expert != 0) continue;
      PlanChoice choice = wanted;
      choice.expert = expert;
      const Evaluation one = simulated(request, choice);
      if (one.kind == Evaluation::Kind::kIllegal) {
        if (first.message.empty()) first = one;
        continue;
      }
      for (choice.zero = wanted.zero + 1;
           one.kind == Evaluation::Kind::kOutOfMemory && choice.zero <= 3 && (choice.data > 1 || choice.context > 1);
           ++choice.zero) {
        const Evaluation sharded = simulated(request, choice);
        if (sharded.kind == Evaluation::Kind::kFits) return sharded;
      }
      return one;
    }
    return first;
  }

  [[nodiscard]] static Evaluation simulated(const PlanRequest& request, const PlanChoice& choice) {
    Evaluation one;
    simulate_choice(request, choice, one);
    return one;
  }

  const PlanRequest& request_;
  const PlannedRun& best_;
  Progress& progress_;
  int devices_ = 1;
  PlannerJob job_;
  std::string schedule_;
};

PlannerAnswer own_answer(const PlannedRun& best) {
  PlannerAnswer row;
  row.planner = "debubble";
  row.own = true;
  row.choice = best.choice;
  row.step = best.step;
  row.predicted = best.step;
  row.peak = best.peak;
  return row;
}

// Where the plan has no pipeline there is nothing to cut: the best one that was simulated and has.
const PlannedRun& run_to_cut(const std::vector<PlannedRun>& runs) {
  const auto found =
      std::find_if(runs.begin(), runs.end(), [](const PlannedRun& run) { return run.choice.pipeline > 1; });
  return found == runs.end() ? runs.front() : *found;
}

[[noreturn]] void not_with_planners(const std::string& flag, const std::string& why, const std::string& help) {
  throw InputError(Diagnostic{"C087", flag, why, help});
}

// Devices of several types: every row by shares, debubble's among them.
PlannerAnswers ask_on_types(const ScenarioFlags& job, PlanFlags flags, const PlannerFlags& asked, Progress& progress) {
  const std::vector<DeviceTypeRow> types =
      read_device_types(read_file(asked.device_types, "--device-types"), asked.device_types);
  if (flags.gpus.value_or(0) != device_count(types)) {
    throw InputError(Diagnostic{"C012", "--gpus",
                                std::to_string(flags.gpus.value_or(0)) + " GPUs, and the file of device types has " +
                                    std::to_string(device_count(types)),
                                "write --gpus " + std::to_string(device_count(types))});
  }
  const PlanJob plan = read_plan(job, flags);
  PlanChoice choice;
  for (const auto& [key, values] : plan.request.allowed) {
    if (key != "microbatch" || values.size() != 1) {
      not_with_planners("--device-types",
                        "\"" + key + "\" is fixed, and where devices differ each of them is one stage",
                        "fix at most one microbatch size");
    }
    std::from_chars(values.front().data(), values.front().data() + values.front().size(), choice.microbatch);
  }
  if (plan.request.microbatch > 0) choice.microbatch = plan.request.microbatch;
  if (choice.microbatch < 1 || plan.request.global_batch % choice.microbatch != 0) {
    throw InputError(Diagnostic{"C012", "--global-batch",
                                counted(plan.request.global_batch, "sample") + " are no whole microbatches of " +
                                    std::to_string(choice.microbatch),
                                "use a multiple of the microbatch"});
  }
  PlannerAnswers answers;
  answers.samples = choice.microbatch;
  answers.job =
      planner_job(plan.request, choice, types, static_cast<int>(plan.request.global_batch / choice.microbatch));
  for (const AskedPlanner& one : asked_specs(asked)) {
    PlannerAnswer row;
    row.planner = one.text;
    row.as_published = one.spec.request.as_published;
    row.own = one.spec.entry->name == "debubble";
    progress.phase("asking " + one.text);
    try {
      row.decision = decide(one.spec, answers.job);
      row.predicted = predicted_step(row.decision, answers.job);
      judge_by_shares(answers.job, row, 0);
    } catch (const InputError& error) {
      row.refusal = error.diagnostics().front().message;
      if (error.diagnostics().front().code.front() == 'C') throw;
    }
    answers.rows.push_back(std::move(row));
  }
  set_regrets(answers.rows);
  return answers;
}

}  // namespace

std::string straight_schedule(const PlanChoice& plan) {
  if (plan.pipeline < 2 || plan.chunks > 1) return "1f1b";
  ScheduleRequest request;
  request.devices = plan.pipeline;
  request.microbatches = plan.microbatches;
  return build_schedule(plan.schedule, request).placement.replicas() == 1 ? plan.schedule : "1f1b";
}

FlagRows flag_rows(PlannerFlags& flags) {
  constexpr std::string_view kGroup = "Planners";
  return {
      {.name = "--planner",
       .group = kGroup,
       .type = "NAME",
       .help = "also ask: dapple, pipedream:straight=yes, all",
       .target = &flags.planners,
       .count = FlagCount::kAll},
      {.name = "--as-published",
       .group = kGroup,
       .help = "also with the faults of their programs",
       .target = &flags.as_published},
      {.name = "--device-types",
       .group = kGroup,
       .type = "FILE",
       .help = "devices that differ: types and counts",
       .target = &flags.device_types},
  };
}

bool asks_planners(const PlannerFlags& flags) {
  return !flags.planners.empty() || !flags.device_types.empty() || flags.as_published;
}

void check_planner_names(const PlannerFlags& flags) {
  if (flags.planners.empty() && flags.device_types.empty()) {
    throw InputError(Diagnostic{"C061", "--as-published", "nothing says which planners", "add --planner all"});
  }
  static_cast<void>(asked_specs(flags));
}

PlannerAnswers ask_planners(const ScenarioFlags& job, const PlanFlags& flags, const PlannerFlags& asked,
                            Progress& progress) {
  check_planner_names(asked);
  if (flags.objective == "memory") {
    not_with_planners("--objective", "planners are compared by the step of what they decide", "leave it out");
  }
  if (!asked.device_types.empty()) return ask_on_types(job, flags, asked, progress);
  PlannerAnswers answers;
  answers.plan = make_plan(job, flags, progress);
  const Plan& plan = *answers.plan;
  if (plan.search.runs.empty()) return answers;
  const PlannedRun& best = plan.search.runs.front();
  const PlannedRun& cut = run_to_cut(plan.search.runs);
  BesidePlan beside(plan.asked, best, progress);
  BesidePlan beside_cut(plan.asked, cut, progress);
  answers.job = beside.job();
  answers.samples = best.choice.microbatch;
  answers.ranks = best.choice.tensor * best.choice.context;
  answers.cut = cut.choice;
  answers.rows.push_back(own_answer(best));
  for (const AskedPlanner& one : asked_specs(asked)) {
    if (one.text == "debubble") continue;  // the plan's own row, which searches more
    answers.rows.push_back((one.spec.entry->cuts_only ? beside_cut : beside).ask(one));
  }
  set_regrets(answers.rows);
  return answers;
}

}  // namespace debubble
