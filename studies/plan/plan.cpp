#include "studies/plan/plan.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "scenario/check_scenario.hpp"
#include "scenario/job/model_profile.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

constexpr double kSimpleEnough = 1.1;  // times the best step: no simpler plan that is slower is worth a line

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class PlanMaker {
 public:
  PlanMaker(PlanJob asked, Progress& progress) : progress_(progress) { plan_.asked = std::move(asked); }

  Plan run() {
    PlanSearch search(asked().request, plan_space(asked().request));
    plan_.restrictions = search.space().restrictions;
    if (asked().request.job.cluster.topology == ClusterFlags{}.topology) {
      plan_.restrictions.emplace_back(
          "links are ideal and shared by nobody, so that replicas and tensor ranks cost "
          "little: --topology says what there is");
    }
    const bool in_time = !asked().options.budget;
    begin_ = std::chrono::steady_clock::now();
    if (in_time && asked().request.runs_in.empty()) search_frameworks(search);
    plan_.search = search.run(asked().options, progress_);
    if (asked().own) plan_.own = judge_own_run(*asked().own, asked().request, plan_.search.runs);
    if (plan_.search.runs.empty()) {
      if (!plan_.search.interrupted) find_enough_gpus();
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
    if (options.budget) options.budget = 0;
    for (const char* const framework : {"Megatron-LM", "torchtitan", "DeepSpeed"}) {
      progress_.phase(std::string("the best that ") + framework + " runs");
      const auto is_run = [&](const PlanChoice& choice) { return can_run(choice, framework); };
      const SearchResult found = search.run(options, progress_, is_run);
      Alternative one{std::string("runs in ") + framework + " today", std::nullopt};
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
      const bool quick = static_cast<double>(run.step) <= kSimpleEnough * static_cast<double>(best.step);
      const auto order = [](const PlannedRun& one) { return std::pair(complexity(one.choice), one.step); };
      if (quick && order(run) < order(*simplest)) simplest = &run;
      if (quick && run.peak < smallest->peak) smallest = &run;
    }
    plan_.alternatives.push_back({"simplest within 10 % of the best step", *simplest});
    plan_.alternatives.push_back({"least memory within 10 %, of those simulated", *smallest});
  }

  void show_best() {
    const PlanChoice& choice = plan_.search.runs.front().choice;
    progress_.phase("simulating the best once more");
    const Scenario scenario = check_scenario(flags_of(choice, asked().request.job));
    plan_.best = simulate(scenario, choice.schedule, progress_);
    plan_.frameworks = framework_flags(choice, plan_.best->job, *scenario.profile, asked().request.global_batch);
  }

  void find_enough_gpus() {
    for (int times = 2; times <= 16; times *= 2) {
      PlanRequest more = asked().request;
      more.gpus = asked().request.gpus * times;
      if (more.gpus > kMostGpus) return;
      if (asked().chosen_topology)
        more.job.cluster.topology = usual_cluster(more.job.transformer.hardware, more.gpus).topology;
      try {
        SearchOptions options = asked().options;
        options.gap = 1;  // anything that fits
        if (options.budget) options.budget = std::max(0.0, *options.budget - seconds_since(begin_));
        PlanSearch search(more, plan_space(more));
        const SearchResult found = search.run(options, progress_);
        if (found.runs.empty() && found.interrupted) return;  // so many could be enough, or not
        if (found.runs.empty()) continue;
        plan_.enough_gpus = more.gpus;
        return;
      } catch (const InputError&) {
        return;  // what is fixed does not go with more GPUs, or the cluster that was given has no more
      }
    }
  }

  Progress& progress_;
  std::chrono::steady_clock::time_point begin_;  // of the search
  Plan plan_;
};

}  // namespace

Plan make_plan(const ScenarioFlags& job, const PlanFlags& flags, Progress& progress) {
  return PlanMaker(read_plan(job, flags), progress).run();
}

std::optional<double> cost_of(const Plan& plan, const PlannedRun& run) {
  if (!plan.asked.price || !run.samples_per_second) return std::nullopt;
  const double per_second = *plan.asked.price * plan.asked.request.gpus / 3600;
  if (run.tokens_per_second) return per_second / *run.tokens_per_second * 1e6;
  return per_second / *run.samples_per_second * 1e3;
}

}  // namespace debubble
