#include "studies/plan/plan.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "scenario/check_scenario.hpp"
#include "studies/plan/over_mpi.hpp"
#include "studies/uncertainty/step_range.hpp"

namespace debubble {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class PlanMaker {
 public:
  PlanMaker(PlanJob asked, Progress& progress, PlanRanks* ranks) : progress_(progress), ranks_(ranks) {
    plan_.asked = std::move(asked);
  }

  Plan run() {
    PlanSearch search(asked().request, plan_space(asked().request), ranks_);
    plan_.restrictions = search.space().restrictions;
    if (asked().request.job.cluster.topology == ClusterFlags{}.topology) {
      plan_.restrictions.emplace_back(
          "links are ideal and shared by nobody, so that replicas and tensor ranks cost "
          "little: --topology says what there is");
    }
    const bool in_time = !asked().options.budget;
    begin_ = std::chrono::steady_clock::now();
    if (in_time && asked().request.runs_in.empty()) search_frameworks(search);
    // Before the search, which then has nothing left to simulate; with a budget, in the time that it leaves.
    if (in_time && asked().flags.front) plan_.front = search.front(asked().options, progress_);
    SearchOptions options = asked().options;
    options.nearest = !in_time;  // in time it is looked for by itself
    plan_.search = search.run(options, progress_);
    if (!in_time && asked().flags.front && !plan_.search.runs.empty()) add_front(search);
    if (ranks_ != nullptr) ranks_->dismiss();  // what is left takes one process
    if (asked().own) plan_.own = judge_own_run(*asked().own, asked().request, plan_.search.runs);
    if (plan_.search.runs.empty()) {
      if (!plan_.search.interrupted) explain_shortage();
      return std::move(plan_);
    }
    if (!in_time && asked().request.runs_in.empty()) search_frameworks(search);
    add_simplest();
    show_best();
    return std::move(plan_);
  }

 private:
  [[nodiscard]] const PlanJob& asked() const { return plan_.asked; }

  // The best that each framework runs; with a budget, of what was simulated in its time.
  void search_frameworks(PlanSearch& search) {
    SearchOptions options = asked().options;
    options.nearest = false;
    if (options.budget) options.budget = 0;
    for (const char* const framework : kPlanFrameworks) {
      progress_.phase(std::string("the best that ") + framework + " runs");
      const auto is_run = [&](const PlanChoice& choice) { return can_run(choice, framework); };
      const SearchResult found = search.run(options, progress_, is_run);
      Alternative one{std::string("runs in ") + framework + " today", std::nullopt, framework};
      if (!found.runs.empty()) one.run = found.runs.front();
      plan_.alternatives.push_back(one);
    }
  }

  // Among all that was simulated: what a framework runs is among it, with a budget or without.
  void add_simplest() {
    const PlannedRun& best = plan_.search.runs.front();
    const PlannedRun* simplest = &best;
    const PlannedRun* smallest = &best;
    for (const PlannedRun& run : plan_.search.runs) {
      const bool quick = static_cast<double>(run.step) <= kWorthALine * static_cast<double>(best.step);
      const auto order = [](const PlannedRun& one) { return std::pair(complexity(one.choice), one.step); };
      if (quick && order(run) < order(*simplest)) simplest = &run;
      if (quick && run.peak < smallest->peak) smallest = &run;
    }
    plan_.alternatives.push_back({"simplest within 10 % of the best step", *simplest, ""});
    plan_.alternatives.push_back({"least memory within 10 %, of those simulated", *smallest, ""});
  }

  void show_best() {
    const PlanChoice& choice = plan_.search.runs.front().choice;
    progress_.phase("simulating the best once more");
    const Scenario scenario = check_scenario(flags_of(choice, asked().request.job));
    plan_.best = simulate(scenario, choice.schedule, progress_);
    add_step_range(scenario, plan_.best->result.report);
    for (const char* const framework : kPlanFrameworks) {
      FrameworkFlags flags =
          framework_flags(framework, choice, plan_.best->job, *scenario.profile, asked().request.global_batch);
      name_modules(flags);
      plan_.frameworks.push_back(can_run(choice, framework) ? flags : own_best(framework, std::move(flags)));
    }
    plan_.limit = find_plan_limit(asked().request, asked().options, plan_.search, plan_.best->result.report, progress_);
  }

  // Selective recomputation is of the modules that the job names.
  void name_modules(FrameworkFlags& flags) const {
    constexpr std::string_view kSelective = " --recompute-granularity selective";
    std::string modules = asked().request.job.transformer.recompute_modules;
    const std::size_t at = flags.text.find(kSelective);
    if (modules.empty() || at == std::string::npos) return;
    std::replace(modules.begin(), modules.end(), ',', ' ');
    flags.text.insert(at + kSelective.size(), " --recompute-modules " + modules);
  }

  // What to paste for the best plan that the framework runs, where there is one; else what there is for the best of
  // all.
  [[nodiscard]] FrameworkFlags own_best(const std::string& framework, FrameworkFlags of_best) const {
    const auto found = std::find_if(plan_.alternatives.begin(), plan_.alternatives.end(),
                                    [&](const Alternative& one) { return one.framework == framework; });
    if (found == plan_.alternatives.end() || !found->run) return of_best;
    const PlanChoice& choice = found->run->choice;
    const Scenario scenario = check_scenario(flags_of(choice, asked().request.job));
    const Simulated run = simulate(scenario, choice.schedule, progress_);
    FrameworkFlags flags = framework_flags(framework, choice, run.job, *scenario.profile, asked().request.global_batch);
    name_modules(flags);
    flags.of_own_best = true;
    return flags;
  }

  // In what is left of the budget. What it simulated counts as the search's own.
  void add_front(PlanSearch& search) {
    SearchOptions options = asked().options;
    options.budget = time_left();
    plan_.front = search.front(options, progress_);
    const bool by_memory = options.objective == PlanObjective::kMemory;
    const auto value = [&](const PlannedRun& run) { return static_cast<double>(by_memory ? run.peak : run.step); };
    SearchResult& found = plan_.search;
    const double least = value(found.runs.front()) * (1 - found.remaining_gap);
    for (const PlannedRun& point : plan_.front->points) {
      const auto same = [&](const PlannedRun& run) { return run.choice == point.choice; };
      if (std::none_of(found.runs.begin(), found.runs.end(), same)) found.runs.push_back(point);
    }
    std::stable_sort(found.runs.begin(), found.runs.end(), [&](const PlannedRun& a, const PlannedRun& b) {
      return std::tuple(value(a), a.step, a.peak) < std::tuple(value(b), b.step, b.peak);
    });
    found.remaining_gap = std::max(0.0, 1 - least / value(found.runs.front()));
    found.simulated += plan_.front->simulated;
    found.out_of_memory += plan_.front->out_of_memory;
    found.deadlocked += plan_.front->deadlocked;
    found.excluded_by_time -= plan_.front->simulated;
  }

  void explain_shortage() {
    std::optional<double> seconds;
    if (asked().options.budget) seconds = time_left();
    plan_.shortage = find_shortage(asked(), seconds, progress_);
    if (!plan_.shortage.shortage) return;
    const Shortage& shortage = *plan_.shortage.shortage;
    plan_.search.nearest = NearMiss{shortage.run.choice, shortage.missing(), true};
  }

  [[nodiscard]] double time_left() const { return std::max(0.0, *asked().options.budget - seconds_since(begin_)); }

  Progress& progress_;
  PlanRanks* ranks_;                             // or null
  std::chrono::steady_clock::time_point begin_;  // of the search
  Plan plan_;
};

}  // namespace

Plan make_plan(const ScenarioFlags& job, const PlanFlags& flags, Progress& progress, PlanRanks* ranks) {
  return PlanMaker(read_plan(job, flags), progress, ranks).run();
}

std::optional<double> cost_of(const Plan& plan, const PlannedRun& run) {
  if (!plan.asked.price || !run.samples_per_second) return std::nullopt;
  const double per_second = *plan.asked.price * plan.asked.request.gpus / 3600;
  if (run.tokens_per_second) return per_second / *run.tokens_per_second * 1e6;
  return per_second / *run.samples_per_second * 1e3;
}

}  // namespace debubble
