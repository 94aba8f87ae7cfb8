#include "studies/plan/plan.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scenario/check_scenario.hpp"
#include "scenario/job/model_profile.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/quantities.hpp"
#include "studies/parallel.hpp"
#include "studies/plan/open_cuts.hpp"
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
    for (const char* const framework : kFrameworks) {
      rules_.emplace(framework, RunRules(framework, plan_.asked.request.framework_job));
    }
  }

  Plan run() {
    PlanSearch search(asked().request, plan_space(asked().request), ranks_);
    add_left_out();
    const std::vector<std::string>& of_space = search.space().restrictions;
    plan_.restrictions.insert(plan_.restrictions.end(), of_space.begin(), of_space.end());
    if (asked().request.job.cluster.topology == ClusterFlags{}.topology) {
      plan_.restrictions.emplace_back(
          "links are ideal and shared by nobody, so that replicas and tensor ranks cost "
          "little: --topology says what there is");
    }
    if (asked().unequal_ranks) {
      plan_.restrictions.emplace_back(
          "all devices are as fast, though a rank of the profile was slower or faster than the others (note in the "
          "profile): the simulation of a plan on as many devices as it has ranks counts that");
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
    if (plan_.front) add_to_front(plan_.search.runs);
    if (ranks_ != nullptr) ranks_->dismiss();  // what is left takes one process
    cut_best_for_links();
    if (asked().own) plan_.own = judge_own_run(*asked().own, asked().request, plan_.search.runs);
    if (plan_.search.runs.empty()) {
      if (!plan_.search.interrupted || !plan_.search.tight.empty()) explain_shortage();
      return std::move(plan_);
    }
    if (!in_time && asked().request.runs_in.empty()) search_frameworks(search);
    cut_alternatives_for_links();
    prefer_recorded(search);
    add_simplest();
    add_tight();
    if (plan_.own) {
      progress_.phase("what leads from the own run to the best");
      plan_.own_changes = own_changes(*asked().own, *plan_.own, asked().request, plan_.search.runs.front().choice);
    }
    if (asked().flags.cells) plan_.cells = search.cells();
    show_best(search);
    return std::move(plan_);
  }

 private:
  [[nodiscard]] const PlanJob& asked() const { return plan_.asked; }

  [[nodiscard]] bool can_run(const PlanChoice& choice, const std::string& framework) const {
    return rules_.at(framework).allow(framework_choice(choice));
  }

  void add_left_out() {
    if (asked().left_out.empty()) return;
    std::string names;
    for (const std::string& one : asked().left_out) names += (names.empty() ? "" : ",") + one;
    plan_.restrictions.push_back(names +
                                 " left out: asynchronous, with gradients of older weights, which does not train the "
                                 "same; --only schedule=" +
                                 names + " plans that");
  }

  // The best that each framework runs; with a budget, of what was simulated in its time.
  void search_frameworks(PlanSearch& search) {
    SearchOptions options = asked().options;
    options.nearest = false;
    if (options.budget) options.budget = 0;
    for (const char* const framework : kFrameworks) {
      progress_.phase(std::string("the best that ") + framework + " runs");
      const RunRules& rules = rules_.at(framework);
      const auto is_run = [&](const PlanChoice& choice) { return rules.allow(framework_choice(choice)); };
      const SearchResult found = search.run(options, progress_, is_run);
      Alternative one{std::string("runs in ") + framework + " today", std::nullopt, framework};
      if (!found.runs.empty()) one.run = found.runs.front();
      if (found.runs.empty() && !found.tight.empty()) one.run = found.tight.front();
      plan_.alternatives.push_back(one);
    }
  }

  // Where the fastest is of a kind that no record is of, one of which some are comes first that cannot be told apart
  // from it.
  void prefer_recorded(PlanSearch& search) {
    std::vector<PlannedRun>& runs = plan_.search.runs;
    if (asked().options.objective != PlanObjective::kStep) return;
    const PlannedRun fastest = runs.front();
    const std::string part = unrecorded_part(fastest.choice);
    if (part.empty()) return;
    progress_.phase("the best that records are of");
    const auto is_recorded = [](const PlanChoice& choice) { return unrecorded_part(choice).empty(); };
    SearchOptions options = asked().options;
    options.nearest = false;
    if (options.budget) options.budget = 0;
    const SearchResult found = search.run(options, progress_, is_recorded);
    if (!found.runs.empty()) {
      add_run(found.runs.front());
      if (weighs_links()) {
        for (const PlannedRun& run : cut_for_links(asked().request, {found.runs.front()}, options.threads))
          add_run(run);
      }
    }
    const auto first =
        std::find_if(runs.begin(), runs.end(), [&](const PlannedRun& run) { return is_recorded(run.choice); });
    if (first == runs.end()) return;
    const PlanRow row{*first, least_difference(ranged_report(first->choice), ranged_report(fastest.choice)), ""};
    if (!row.is_close_to(fastest)) return;
    plan_.passed_over.push_back({fastest, "no measured run has " + part +
                                              ", and measured runs may rank it and the best otherwise: they differ by "
                                              "less than " +
                                              format_percent(*row.needed)});
    std::rotate(runs.begin(), first, first + 1);
  }

  [[nodiscard]] Report ranged_report(const PlanChoice& choice) const {
    NoProgress nobody;
    const Scenario scenario = check_scenario(flags_of(choice, asked().request.job));
    Report report = simulate(scenario, choice.schedule, nobody).result.report;
    add_step_range(scenario, report);
    return report;
  }

  // The fastest that leaves less memory free than it is to.
  void add_tight() {
    const SearchResult& found = plan_.search;
    if (found.tight.empty() || asked().options.objective != PlanObjective::kStep) return;
    const PlannedRun& fastest = found.tight.front();
    constexpr double kWorthTelling = 0.999;
    if (static_cast<double>(fastest.step) > kWorthTelling * static_cast<double>(found.runs.front().step)) return;
    plan_.passed_over.push_back(
        {fastest, "tight: " + format_size(*fastest.spare) + " to spare, and " + format_size(fastest.margin) + " (" +
                      format_percent(asked().request.margin) + ") are to stay free; --margin 0 ranks it"});
  }

  [[nodiscard]] bool weighs_links() const {
    const bool time_is_up = asked().options.budget && time_left() <= 0;
    return cuts_ignore_links(asked().request) && asked().options.objective == PlanObjective::kStep && !time_is_up;
  }

  // What the search of the best found beside the front: with the fewest blocks recomputed, or cut for its links.
  void add_to_front(const std::vector<PlannedRun>& runs) {
    std::vector<PlannedRun>& points = plan_.front->points;
    for (const PlannedRun& run : runs) {
      const auto same = [&](const PlannedRun& point) { return point.choice == run.choice; };
      if (std::none_of(points.begin(), points.end(), same)) points.push_back(run);
    }
    points = front_of(std::move(points));
  }

  // Not all runs: each takes eight simulations. What is found is no part of the space, so its counts and the gap stay.
  void cut_best_for_links() {
    if (!weighs_links() || plan_.search.runs.empty()) return;
    progress_.phase("the best, cut for their links");
    std::vector<PlannedRun>& runs = plan_.search.runs;
    const auto best = static_cast<std::ptrdiff_t>(std::min(runs.size(), kMostCutForLinks));
    const std::vector<PlannedRun> tried(runs.begin(), runs.begin() + best);
    for (const PlannedRun& run : tried) cut_for_links_.push_back(run.choice);
    for (const PlannedRun& run : cut_for_links(asked().request, tried, asked().options.threads)) {
      add_run(run);
      if (plan_.front) add_to_front({run});
    }
    if (std::any_of(tried.begin(), tried.end(), [](const PlannedRun& run) { return run.choice.pipeline > 1; })) {
      plan_.restrictions.push_back("of the runs that balance time the best " + std::to_string(best) +
                                   " were also cut for each device's own links (partition auto), others were not");
    }
  }

  // Faster ones take the place of those that only balance time. What was among the best has been cut before.
  void cut_alternatives_for_links() {
    if (!weighs_links()) return;
    const auto can_be_cut = [&](const Alternative& one) {
      return one.run && one.run->choice.partition.empty() && can_run(cut_by_links(one.run->choice), one.framework);
    };
    std::vector<PlannedRun> others;
    for (const Alternative& one : plan_.alternatives) {
      if (!can_be_cut(one)) continue;
      if (std::find(cut_for_links_.begin(), cut_for_links_.end(), one.run->choice) != cut_for_links_.end()) continue;
      cut_for_links_.push_back(one.run->choice);
      others.push_back(*one.run);
    }
    for (const PlannedRun& run : cut_for_links(asked().request, others, asked().options.threads)) add_run(run);
    for (Alternative& one : plan_.alternatives) {
      if (!can_be_cut(one)) continue;
      const std::vector<PlannedRun>& runs = plan_.search.runs;
      const PlanChoice cut = cut_by_links(one.run->choice);
      const auto faster =
          std::find_if(runs.begin(), runs.end(), [&](const PlannedRun& run) { return run.choice == cut; });
      if (faster != runs.end()) one.run = *faster;
    }
  }

  static PlanChoice cut_by_links(PlanChoice choice) {
    choice.partition = kBalancedCut;
    return choice;
  }

  void add_run(const PlannedRun& run) {
    std::vector<PlannedRun>& runs = plan_.search.runs;
    const auto same = [&](const PlannedRun& other) { return other.choice == run.choice; };
    if (std::any_of(runs.begin(), runs.end(), same)) return;
    const auto later = [](const PlannedRun& a, const PlannedRun& b) { return a.step < b.step; };
    runs.insert(std::upper_bound(runs.begin(), runs.end(), run, later), run);
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

  // A plan of which more is shown than its figures.
  struct Shown {
    const PlanChoice* choice;
    std::optional<Scenario> scenario;
    std::optional<Simulated> run;
  };

  // Times of a measured profile have none.
  [[nodiscard]] bool has_ranges() const { return !asked().request.job.transformer.model.empty(); }

  void list_rows() {
    for (PlannedRun& run : runs_to_list(plan_.search.runs, asked().flags.rows)) {
      std::string part = unrecorded_part(run.choice);
      plan_.rows.push_back({std::move(run), std::nullopt, std::move(part)});
    }
  }

  // The best, and for each framework that does not run it the best of its own, simulated side by side.
  void show_best(const PlanSearch& search) {
    progress_.phase("simulating the best once more");
    std::vector<Shown> shown{{&plan_.search.runs.front().choice, {}, {}}};
    std::vector<std::size_t> places;  // of each framework's among them
    for (const char* const framework : kFrameworks) {
      const PlanChoice* const own = own_best(framework);
      places.push_back(own == nullptr ? 0 : shown.size());
      if (own != nullptr) shown.push_back({own, {}, {}});
    }
    list_rows();
    std::vector<Report> ranged(plan_.rows.size());
    const std::size_t count = shown.size() + ranged.size() - 1;
    for_each_index(count, threads_for(count, asked().options.threads), [&](std::size_t k) {
      if (k >= shown.size()) {
        std::size_t row = k - shown.size() + 1;
        if (has_ranges()) ranged[row] = ranged_report(plan_.rows[row].run.choice);
        return;
      }
      NoProgress nobody;
      shown[k].scenario = check_scenario(flags_of(*shown[k].choice, asked().request.job));
      shown[k].run = simulate(*shown[k].scenario, shown[k].choice->schedule, nobody);
    });
    for (std::size_t k = 0; k < places.size(); ++k) {
      plan_.frameworks.push_back(paste_of(kFrameworks[k], shown[places[k]]));
      plan_.frameworks.back().of_own_best = places[k] > 0;
    }
    plan_.best = std::move(*shown.front().run);
    add_step_range(*shown.front().scenario, plan_.best->result.report);
    plan_.kernels_measured = !has_ranges() || kernel_tables_of(*shown.front().scenario) != nullptr;
    for (std::size_t k = 1; k < ranged.size(); ++k) {
      plan_.rows[k].needed = least_difference(plan_.best->result.report, ranged[k]);
    }
    plan_.limit =
        find_plan_limit(asked().request, asked().options, plan_.search, search, plan_.best->result.report, progress_);
  }

  // Refused by the framework's rules for runs, or written and refused by those for files.
  [[nodiscard]] Paste paste_of(const std::string& framework, const Shown& one) const {
    if (const auto why = rules_.at(framework).refusal(framework_choice(*one.choice), "T054", "")) {
      Paste refused;
      refused.framework = framework;
      refused.refusal = why->message.substr(why->message.find(' ') + 1) + ": " + why->help;
      return refused;
    }
    return make_paste(framework, flags_of(*one.choice, asked().request.job), *one.scenario, one.run->job);
  }

  // The best plan that the framework runs; null where that is the best of all, or there is none.
  [[nodiscard]] const PlanChoice* own_best(const std::string& framework) const {
    if (can_run(plan_.search.runs.front().choice, framework)) return nullptr;
    const auto found = std::find_if(plan_.alternatives.begin(), plan_.alternatives.end(),
                                    [&](const Alternative& one) { return one.framework == framework; });
    return found == plan_.alternatives.end() || !found->run ? nullptr : &found->run->choice;
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
    plan_.shortage = find_shortage(asked(), plan_.search.tight, seconds, progress_);
    if (!plan_.search.tight.empty()) {
      const PlannedRun& fastest = plan_.search.tight.front();
      plan_.search.nearest = NearMiss{fastest.choice, fastest.margin - *fastest.spare, true};
      return;
    }
    if (!plan_.shortage.shortage) return;
    const Shortage& shortage = *plan_.shortage.shortage;
    plan_.search.nearest = NearMiss{shortage.run.choice, shortage.missing(), true};
  }

  [[nodiscard]] double time_left() const { return std::max(0.0, *asked().options.budget - seconds_since(begin_)); }

  Progress& progress_;
  PlanRanks* ranks_;                             // or null
  std::chrono::steady_clock::time_point begin_;  // of the search
  std::vector<PlanChoice> cut_for_links_;        // tried so
  std::map<std::string, RunRules> rules_;        // by framework
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
