#include "tools/commands/plan.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "formats/text/printable.hpp"
#include "formats/version.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "studies/plan/asked_planners.hpp"
#include "studies/plan/over_mpi.hpp"
#include "studies/plan/plan.hpp"
#include "tools/commands/command.hpp"
#include "tools/figures/figure_file.hpp"
#include "tools/figures/study_figures.hpp"
#include "tools/flags/config_file.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/html/html_file.hpp"
#include "tools/views/html/study_pages.hpp"
#include "tools/views/plan/asked_planners_view.hpp"
#include "tools/views/plan/front_view.hpp"
#include "tools/views/plan/plan_view.hpp"
#include "tools/views/plan/schedule_plan_view.hpp"

namespace debubble {
namespace {

constexpr std::string_view kPlanFormats = "text|json|csv";

class PlanCommand : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    const FlagGroup row("Plan");
    FlagRows rows = flag_rows(flags_);
    rows.push_back(row("--top", "N", "runs to print", &top_, Default{"5"}));
    rows.push_back(
        row("--patience", FlagUnit::kSeconds, "MPI: silence until a rank is lost", &patience_, Default{"20"}));
    add_rows(rows, flag_rows(planners_));
    rows.push_back(row("--schedule-only", "only the best order of a given pipeline (-p, -m)", &schedule_only_));
    add_rows(rows, flag_rows(scenario_, ScenarioVerb::kPlan));
    add_rows(rows, flag_rows(output_, kPlanFormats));
    rows.push_back(html_row(html_));
    add_rows(rows, flag_rows(figure_, ""));
    rows.push_back(assumptions_row(output_));
    rows.back().help = "all that --schedule-only assumes, with sources";
    return rows;
  }

  int run(const Invocation& invocation) override {
    const std::size_t top = printed_runs(top_);
    if (output_.assumptions && !schedule_only_) {
      throw InputError(Diagnostic{"C004", "--assumptions", "only --schedule-only prints what it assumes",
                                  "run the plan's command with it: debubble simulate ... --assumptions"});
    }
    if (!html_.empty() && (schedule_only_ || asks_planners(planners_))) {
      throw InputError(Diagnostic{"C087", "--html", "only the plan of a whole job has a page",
                                  "simulate what it prints with --html, or leave it out"});
    }
    if (!figure_.file.empty() && (schedule_only_ || asks_planners(planners_))) {
      throw InputError(Diagnostic{"C087", "--figure", "only the plan of a whole job has a figure",
                                  "simulate what it prints with --figure, or leave it out"});
    }
    flags_.read_scenario = read_scenario_file;
    if (schedule_only_) return run_schedule_only(top, invocation);
    const std::unique_ptr<PlanRanks> ranks = join_ranks();
    if (ranks != nullptr && !ranks->is_first()) {
      ranks->serve();
      return kExitOk;
    }
    if (asks_planners(planners_)) {
      if (ranks != nullptr) ranks->dismiss();  // planners take one process
      return run_planners(invocation);
    }
    HtmlFile html(html_);
    figure::FigureFile drawn(figure_);
    Output output(output_, kPlanFormats);
    StderrProgress progress;
    flags_.cells = html.wanted();
    flags_.rows = top;
    const Plan plan = make_plan(scenario_, flags_, progress, ranks.get());
    switch (output.format()) {
      case Format::kJson:
        output.write(plan_json(plan, top, {std::string(kVersion), invocation.command_line}));
        break;
      case Format::kCsv:
        output.write(flags_.front ? front_csv(plan) : plan_csv(plan, top));
        break;
      case Format::kMarkdown:  // not offered
      case Format::kText:
        output.write(plan_view(plan, output.style()));
        break;
    }
    if (html.wanted()) html.write(plan_page(plan, top, invocation.command_line));
    if (drawn.wanted() && !plan.search.runs.empty()) {
      drawn.write(figure_of(
          plan, {.description = "Made by: " + invocation.command_line, .width = drawn.width(), .mono = figure_.mono}));
    }
    html.commit();
    drawn.commit();
    output.commit();
    return plan.search.runs.empty() ? kExitFinding : kExitOk;
  }

 private:
  // Step against memory of all runs that were simulated and fit, those of the front among them.
  static figure::Drawing figure_of(const Plan& plan, figure::FigureFrame frame) {
    std::vector<PlannedRun> runs = plan.search.runs;
    if (plan.front) runs.insert(runs.begin(), plan.front->points.begin(), plan.front->points.end());
    std::vector<figure::FrontPoint> points;
    points.reserve(runs.size());
    for (const PlannedRun& run : runs) points.push_back({to_string(run.choice), run.step, run.peak});
    const std::string text = plan_view(plan, ViewStyle{});
    if (plan.best && plan.best->result.report.memory_fit) {
      frame.limit = plan.best->result.report.memory_fit->capacity;
    }
    frame.title = text.substr(0, text.find('\n'));
    return front_figure(points, frame);
  }

  // Where nothing fits, the plan says so.
  int run_planners(const Invocation& invocation) {
    check_planner_names(planners_);
    Output output(output_, kPlanFormats);
    StderrProgress progress;
    const PlannerAnswers answers = ask_planners(scenario_, flags_, planners_, progress);
    const ToolFacts tool{std::string(kVersion), invocation.command_line};
    const bool planned = !answers.rows.empty();
    if (output.format() == Format::kJson) {
      output.write(planned ? planner_answers_json(answers, tool) : plan_json(*answers.plan, 0, tool));
    } else if (output.format() == Format::kCsv) {
      output.write(planner_answers_csv(answers));
    } else {
      output.write(planned ? planner_answers_text(answers, output.style()) : plan_view(*answers.plan, output.style()));
    }
    output.commit();
    return planned ? kExitOk : kExitFinding;
  }

  // Null: this process is alone.
  [[nodiscard]] std::unique_ptr<PlanRanks> join_ranks() const {
    constexpr int kUsualPatience = 20;
    constexpr int kMostPatience = 86400;
    const int patience = patience_.value_or(kUsualPatience);
    if (patience < 1 || patience > kMostPatience) {
      throw InputError(Diagnostic{"C012", "--patience", "a rank is waited for 1 to 86400 seconds",
                                  "leave --patience out, or write it like --patience 60"});
    }
    return PlanRanks::join(
        scenario_, flags_, std::string(kVersion), std::chrono::seconds(patience),
        [](const std::string& news) { std::fputs(("debubble: " + printable_lines(news, false)).c_str(), stderr); });
  }

  int run_schedule_only(std::size_t top, const Invocation& invocation) {
    refuse_flags_of_plans(flags_, planners_);
    Output output(output_, kPlanFormats);
    StderrProgress progress;
    const SchedulePlan plan = plan_schedule(scenario_, progress);
    switch (output.format()) {
      case Format::kJson:
        output.write(schedule_plan_json(plan, {std::string(kVersion), invocation.command_line}));
        break;
      case Format::kCsv:
        output.write(schedule_plan_csv(plan));
        break;
      case Format::kMarkdown:  // not offered
      case Format::kText:
        output.write(schedule_plan_view(plan, top, output.style()));
        break;
    }
    output.commit();
    return kExitOk;
  }

  PlanFlags flags_;
  PlannerFlags planners_;
  ScenarioFlags scenario_;
  OutputFlags output_;
  std::string html_;
  figure::FigureFlags figure_;
  std::optional<int> top_;
  std::optional<int> patience_;
  bool schedule_only_ = false;
};

}  // namespace

std::size_t printed_runs(std::optional<int> top) {
  constexpr int kUsualTop = 5;
  const int runs = top.value_or(kUsualTop);
  if (runs < 1) {
    throw InputError(Diagnostic{"C012", "--top", "at least one run is printed", "write it like --top 10"});
  }
  return static_cast<std::size_t>(runs);
}

void refuse_flags_of_plans(PlanFlags& plan, PlannerFlags& planners) {
  FlagRows of_plans = flag_rows(plan);
  add_rows(of_plans, flag_rows(planners));
  for (const Flag& flag : of_plans) {
    if (!is_given(flag)) continue;
    throw InputError(Diagnostic{"C087", std::string(flag.name), "with --schedule-only the pipeline is given",
                                "leave it out; -p, -m, costs and --param memory_limit describe the pipeline"});
  }
}

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace debubble
