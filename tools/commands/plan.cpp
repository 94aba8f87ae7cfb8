#include "tools/commands/plan.hpp"

#include <optional>

#include "formats/version.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "studies/plan/plan.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/plan/plan_view.hpp"
#include "tools/views/plan/schedule_plan_view.hpp"

namespace debubble {
namespace {

constexpr std::string_view kPlanFormats = "text|json|csv";
constexpr int kUsualTop = 5;

class PlanCommand : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    FlagRows rows = flag_rows(flags_);
    rows.push_back({.name = "--top",
                    .group = "Plan",
                    .type = "N",
                    .help = "runs to print",
                    .default_text = std::string_view("5"),
                    .target = &top_});
    rows.push_back({.name = "--schedule-only",
                    .group = "Plan",
                    .help = "of a given pipeline (-p, -m): its best order",
                    .target = &schedule_only_});
    add_rows(rows, flag_rows(scenario_, ScenarioVerb::kSeveralSchedules));
    add_rows(rows, flag_rows(output_, kPlanFormats));
    return rows;
  }

  int run(const Invocation& invocation) override {
    const int top = top_.value_or(kUsualTop);
    if (top < 1) {
      throw InputError(Diagnostic{"C012", "--top", "at least one run is printed", "write it like --top 10"});
    }
    if (!schedule_only_ && !flags_.gpus) {
      throw InputError(Diagnostic{"C061", "debubble plan", "--gpus N is missing",
                                  "run `debubble plan --help` for its flags; the best order of a pipeline that is "
                                  "given needs none: debubble plan --schedule-only -p 4 -m 8"});
    }
    Output output(output_, kPlanFormats);
    StderrProgress progress;
    if (schedule_only_) return run_schedule_only(static_cast<std::size_t>(top), invocation, output, progress);
    const Plan plan = make_plan(scenario_, flags_, progress);
    const auto count = static_cast<std::size_t>(top);
    switch (output.format()) {
      case Format::kJson:
        output.write(plan_json(plan, count, {std::string(kVersion), invocation.command_line}));
        break;
      case Format::kCsv:
        output.write(plan_csv(plan, count));
        break;
      case Format::kMarkdown:  // not offered
      case Format::kText:
        output.write(plan_view(plan, count, output.style()));
        break;
    }
    output.commit();
    return plan.search.runs.empty() ? kExitFinding : kExitOk;
  }

 private:
  // The flags of whole plans say nothing here.
  void refuse_flags_of_plans() {
    for (const Flag& flag : flag_rows(flags_)) {
      if (!is_given(flag)) continue;
      throw InputError(Diagnostic{"C087", std::string(flag.name), "with --schedule-only the pipeline is given",
                                  "leave it out; -p, -m, costs and --param memory_limit describe the pipeline"});
    }
  }

  int run_schedule_only(std::size_t top, const Invocation& invocation, Output& output, Progress& progress) {
    refuse_flags_of_plans();
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
  ScenarioFlags scenario_;
  OutputFlags output_;
  std::optional<int> top_;
  bool schedule_only_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace debubble
