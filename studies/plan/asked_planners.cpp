#include "studies/plan/asked_planners.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "formats/files/read_file.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/words.hpp"
#include "studies/plan/device_types.hpp"
#include "studies/plan/planner_jobs.hpp"

namespace debubble {
namespace {

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

// Where devices differ each of them is a stage or a replica of one: nothing but the microbatch can be chosen.
PlanChoice choice_on_types(const PlanRequest& request) {
  PlanChoice choice;
  for (const auto& [key, values] : request.allowed) {
    if (key != "microbatch" || values.size() != 1) {
      not_with_planners("--device-types",
                        "\"" + key + "\" is fixed, and where devices differ each of them is one stage",
                        "fix at most one microbatch size");
    }
    std::string_view value = values.front();
    choice.microbatch = take_whole<decltype(choice.microbatch)>(value).value_or(choice.microbatch);
  }
  if (request.microbatch > 0) choice.microbatch = request.microbatch;
  if (choice.microbatch < 1 || request.global_batch % choice.microbatch != 0) {
    throw InputError(Diagnostic{
        "C012", "--global-batch",
        counted(request.global_batch, "sample") + " are not whole microbatches of " + std::to_string(choice.microbatch),
        "use a multiple of the microbatch"});
  }
  return choice;
}

// Every row by shares, debubble's among them.
void ask_by_shares(const PlannerFlags& asked, PlannerAnswers& answers, Progress& progress) {
  for (const AskedPlanner& one : asked_planners(asked)) {
    PlannerAnswer row;
    row.own = one.spec.entry->name == "debubble";
    progress.phase("asking " + one.text);
    if (ask_planner(one, answers.job, row)) judge_by_shares(answers.job, 0, row);
    answers.rows.push_back(std::move(row));
  }
  set_regrets(answers.rows);
}

PlannerAnswers ask_on_types(const ScenarioFlags& job, const PlanFlags& flags, const PlannerFlags& asked,
                            Progress& progress) {
  const std::vector<DeviceTypeRow> types =
      read_device_types(read_file(asked.device_types, "--device-types"), asked.device_types);
  if (flags.gpus.value_or(0) != device_count(types)) {
    throw InputError(Diagnostic{"C012", "--gpus",
                                std::to_string(flags.gpus.value_or(0)) + " GPUs, and the file of device types has " +
                                    std::to_string(device_count(types)),
                                "write --gpus " + std::to_string(device_count(types))});
  }
  const PlanJob plan = read_plan(job, flags);
  const PlanChoice choice = choice_on_types(plan.request);
  PlannerAnswers answers;
  answers.samples = choice.microbatch;
  answers.job =
      planner_job(plan.request, choice, types, static_cast<int>(plan.request.global_batch / choice.microbatch));
  ask_by_shares(asked, answers, progress);
  return answers;
}

}  // namespace

PlannerAnswers ask_all_planners(PlannerJob job, std::int64_t samples, Progress& progress) {
  PlannerAnswers answers;
  answers.job = std::move(job);
  answers.samples = samples;
  ask_by_shares({.planners = {"all"}, .as_published = true, .device_types = ""}, answers, progress);
  return answers;
}

PlannerAnswers ask_planners(const ScenarioFlags& job, const PlanFlags& flags, const PlannerFlags& asked,
                            Progress& progress) {
  check_planner_names(asked);
  if (flags.objective == "memory") {
    not_with_planners("--objective", "planners are compared by the step of what they decide", "leave it out");
  }
  if (job.memory.memory.find(',') != std::string::npos) {
    not_with_planners("--memory", "planners place stages on other devices than a list of memories is for",
                      "give one size for all, or --device-types FILE");
  }
  if (!asked.device_types.empty()) return ask_on_types(job, flags, asked, progress);
  PlannerAnswers answers;
  answers.plan = make_plan(job, flags, progress);
  const Plan& plan = *answers.plan;
  if (plan.search.runs.empty()) return answers;
  const PlannedRun& best = plan.search.runs.front();
  const PlannedRun& cut = run_to_cut(plan.search.runs);
  const BesidePlan beside(plan.asked.request, best, progress);
  const BesidePlan beside_cut(plan.asked.request, cut, progress);
  answers.job = beside.job();
  answers.samples = best.choice.microbatch;
  answers.ranks = best.choice.tensor * best.choice.context;
  answers.cut = cut.choice;
  answers.rows.push_back(own_answer(best));
  for (const AskedPlanner& one : asked_planners(asked)) {
    if (one.text == "debubble") continue;  // the plan's own row, which searches more
    answers.rows.push_back((one.spec.entry->cuts_only ? beside_cut : beside).ask(one));
  }
  set_regrets(answers.rows);
  return answers;
}

}  // namespace debubble
